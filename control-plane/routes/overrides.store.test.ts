import { describe, expect, it } from 'vitest';
import { OVERRIDES_MAX } from '../../schemas/resources/overrides.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { customerGrantsUnderTest } from '../entitlements/customer-grants-under-test.ts';
import { overridesUnderTest } from '../overrides/overrides-under-test.ts';
import { auditEntries } from '../subscriptions/subscriptions-under-test.ts';

/*
 * Overrides over HTTP and a real Postgres. What they do: ../overrides/overridden-features.store.test.ts.
 *
 * Mutants this suite catches: a statement without its environment; its type not checked; a change to the same
 * value recorded; the ETag not compared, or `*` accepted where there is none.
 */
const api = await apiOfThisFile();
const made = customerGrantsUnderTest(api);
const overrides = overridesUnderTest(api);
await made.features({ sso: 'boolean', seats: 'limit' });

const FAR = '2099-01-01T02:00:00+02:00';

describe('an override', () => {
  it('is put, read, listed, replaced as a whole and removed, and each is recorded', async () => {
    const customerId = await made.customer();
    const { status, body: first } = await overrides.put(customerId, 'seats', {
      value: 12.5,
      expiresAt: FAR,
      reason: 'a promise',
    });
    expect(status).toBe(200);
    expect(first).toEqual({
      id: expect.stringMatching(/^ovr_[a-z2-7]{26}$/),
      customerId,
      featureKey: 'seats',
      type: 'limit',
      value: 12.5,
      expiresAt: '2099-01-01T00:00:00.000Z',
      reason: 'a promise',
      createdAt: expect.any(String),
      updatedAt: first.createdAt,
    });
    const { body: second } = await overrides.put(customerId, 'seats', { value: null });
    expect(second).toEqual({
      id: first.id,
      customerId,
      featureKey: 'seats',
      type: 'limit',
      value: null,
      createdAt: first.createdAt,
      updatedAt: expect.any(String),
    });
    await overrides.put(customerId, 'sso', { value: false });
    const { body: page } = await overrides.list(customerId, { query: { pageSize: 1 } });
    expect(page).toMatchObject({ data: [{ featureKey: 'sso', value: false }], total: 2, hasNext: true });
    expect((await overrides.read(customerId, 'seats')).body).toEqual(second);
    expect((await overrides.remove(customerId, 'seats')).status).toBe(204);
    expectRejection(await overrides.read(customerId, 'seats'), 'not_found', 'featureKey');
    expectRejection(await overrides.remove(customerId, 'seats'), 'not_found', 'featureKey');
    expect(await auditEntries(api.pool, first.id)).toMatchObject([
      { action: 'overrides.put', before: null, after: first },
      { action: 'overrides.put', before: first, after: second },
      { action: 'overrides.delete', before: second, after: null },
    ]);
  });

  it('takes the customer by its own id of the caller and the feature by id', async () => {
    const customerId = await made.customer();
    await api.request('customers.update', { params: { customerId }, body: { externalId: 'ovr/1' } });
    const { body: feature } = await api.request('features.retrieve', { params: { featureKey: 'sso' } });
    await overrides.put('ovr/1', feature.id, { value: true });
    expect((await overrides.read(customerId, 'sso')).body).toMatchObject({ customerId, featureKey: 'sso' });
    expect((await overrides.list('ovr/1')).body.total).toBe(1);
  });

  it('to the value that it has writes nothing, however it is written', async () => {
    const customerId = await made.customer();
    const { body: first } = await overrides.put(customerId, 'seats', { value: 5, expiresAt: FAR });
    const again = await overrides.put(
      customerId,
      'seats',
      `{"value":5.0e0,"expiresAt":"2099-01-01T00:00:00Z"}`,
    );
    expect(again.body).toEqual(first);
    expect(await auditEntries(api.pool, first.id)).toHaveLength(1);
  });

  it('is exact to the last digit', async () => {
    const customerId = await made.customer();
    const value = '999999999999999.999999999999';
    expect((await overrides.put(customerId, 'seats', `{"value":${value}}`)).text).toContain(
      `"value":${value},`,
    );
    expect((await overrides.read(customerId, 'seats')).text).toContain(`"value":${value},`);
    const { text } = await api.request('entitlements.list', { params: { customerId } });
    expect(text).toContain(`"effectiveValue":${value},`);
  });

  it.each([
    ['sso', '{"value":1}', 'invalid_request', 'value'],
    ['sso', '{"value":null}', 'invalid_request', 'value'],
    ['seats', '{"value":true}', 'invalid_request', 'value'],
    ['seats', '{"value":"5"}', 'invalid_request', 'value'],
    ['seats', '{"value":-1}', 'invalid_request', 'value'],
    ['seats', '{"value":1e15}', 'value_invalid', 'value'],
    ['seats', '{"value":0.1234567890123}', 'value_invalid', 'value'],
    ['seats', '{}', 'invalid_request', 'value'],
    ['seats', '{"value":1,"expiresAt":"2020-01-01T00:00:00Z"}', 'invalid_request', 'expiresAt'],
    ['seats', '{"value":1,"expiresAt":"tomorrow"}', 'invalid_request', 'expiresAt'],
    ['seats', '{"value":1,"reason":""}', 'invalid_request', 'reason'],
    ['seats', `{"value":1,"reason":"${'x'.repeat(501)}"}`, 'invalid_request', 'reason'],
    ['deleted', '{"value":1}', 'feature_not_found', 'featureKey'],
  ] as const)('of %s as %s is rejected, and changes nothing', async (feature, body, code, param) => {
    const customerId = await made.customer();
    expectRejection(await overrides.put(customerId, feature, body), code, param);
    expect((await overrides.list(customerId)).body.total).toBe(0);
  });

  it('is of a customer that there is, and that is not archived', async () => {
    for (const response of [
      await overrides.put('cus_unknown', 'sso', { value: true }),
      await overrides.read('cus_unknown', 'sso'),
      await overrides.remove('cus_unknown', 'sso'),
      await overrides.list('cus_unknown'),
    ]) {
      expectRejection(response, 'customer_not_found', 'customerId');
    }
    const customerId = await made.customer();
    await overrides.put(customerId, 'sso', { value: true });
    await api.request('customers.archive', { params: { customerId } });
    const late = await overrides.put(customerId, 'sso', { value: false });
    expectRejection(late, 'customer_archived', 'customerId');
    expect(await made.list(customerId)).toEqual([]);
    expect((await made.check(customerId, 'sso')).reasonCode).toBe('customer_archived');
    expect((await overrides.remove(customerId, 'sso')).status).toBe(204);
  });

  it('is changed as its caller saw it', async () => {
    const customerId = await made.customer();
    const none = { headers: { 'if-match': '*' } };
    expectRejection(await overrides.put(customerId, 'seats', { value: 1 }, none), 'precondition_failed');
    const { headers } = await overrides.put(customerId, 'seats', { value: 1 });
    const seen = { headers: { 'if-match': String(headers.etag) } };
    expect((await overrides.read(customerId, 'seats')).headers.etag).toBe(headers.etag);
    expect((await overrides.put(customerId, 'seats', { value: 2 }, seen)).status).toBe(200);
    expectRejection(await overrides.put(customerId, 'seats', { value: 3 }, seen), 'precondition_failed');
    expectRejection(await overrides.remove(customerId, 'seats', seen), 'precondition_failed');
    expect((await overrides.remove(customerId, 'seats', none)).status).toBe(204);
  });

  it('is not visible in another environment', async () => {
    const customerId = await made.customer();
    await overrides.put(customerId, 'sso', { value: true });
    const other = await api.addWorkspace();
    for (const key of [api.keys.test.secret, other.live.secret]) {
      const responses = [
        await overrides.read(customerId, 'sso', { key }),
        await overrides.list(customerId, { key }),
        await overrides.put(customerId, 'sso', { value: false }, { key }),
        await overrides.remove(customerId, 'sso', { key }),
      ];
      for (const response of responses) expectRejection(response, 'customer_not_found', 'customerId');
      const theirs = await api.request('customers.create', { key });
      const ofOurs = await overrides.put(theirs.body.id, 'sso', { value: true }, { key });
      expectRejection(ofOurs, 'feature_not_found', 'featureKey');
    }
    expect((await made.check(customerId, 'sso')).reasonCode).toBe('granted_by_override');
  });

  it(`is one of at most ${OVERRIDES_MAX} of its customer`, async () => {
    const customerId = await made.customer();
    const { environment } = api;
    await api.pool.query(
      `WITH many AS (
         INSERT INTO features (id, environment, key, name, type, created_at, updated_at)
         SELECT 'feat_many' || n, $1, 'many' || n, 'Many', 'boolean', now(), now()
           FROM generate_series(1, $3) AS n RETURNING id, created_at)
       INSERT INTO overrides (id, environment, customer_id, feature_id, enabled, created_at, updated_at)
       SELECT 'ovr_' || id, $1, $2, id, true, created_at, created_at FROM many`,
      [environment, customerId, OVERRIDES_MAX],
    );
    expectRejection(await overrides.put(customerId, 'sso', { value: true }), 'invalid_request', 'customerId');
    expect((await overrides.put(customerId, 'many1', { value: false })).status).toBe(200);
    await overrides.remove(customerId, 'many2');
    expect((await overrides.put(customerId, 'sso', { value: true })).status).toBe(200);
  });
});
