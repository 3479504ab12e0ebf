import { describe, expect, it } from 'vitest';
import { systemClock } from '../../infra/ports/clock.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { lockWaits } from '../../tests/support/lock-waits.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { customerGrantsUnderTest } from '../entitlements/customer-grants-under-test.ts';
import { auditEntries } from '../subscriptions/subscriptions-under-test.ts';
import { overridesUnderTest } from './overrides-under-test.ts';

/*
 * How overrides change the entitlements of a customer, over HTTP and a real Postgres; metered features are in
 * usage/metered-credits.store.test.ts.
 *
 * Mutants this suite catches: an override added to the value of subscriptions; one that has expired still
 * counted; the feature's row not locked; the customer's row not locked.
 */
/** The control plane's current time; the machine's clock unless it is set. */
let frozenMs: number | undefined;

const clock = { ...systemClock, nowMs: () => frozenMs ?? systemClock.nowMs() };
const api = await apiOfThisFile(undefined, { clock });
const made = customerGrantsUnderTest(api);
const overrides = overridesUnderTest(api);
await made.features({ sso: 'boolean', seats: 'limit' });

describe('an overridden feature of a customer', () => {
  it('replaces what its subscriptions give, and is there without any', async () => {
    const customerId = await made.customer();
    await overrides.put(customerId, 'seats', { value: 3 });
    const whole = { sources: ['override'], contributions: [{ source: 'override', value: 3 }] };
    expect(await made.list(customerId)).toEqual([
      { featureKey: 'seats', type: 'limit', effectiveValue: 3, ...whole },
    ]);
    await made.subscribe(customerId, { seats: { value: 10, soft: true }, sso: true });
    await overrides.put(customerId, 'sso', { value: false });
    expect(await made.list(customerId)).toMatchObject([
      { featureKey: 'seats', effectiveValue: 3, sources: ['override'] },
      { featureKey: 'sso', effectiveValue: false, sources: ['override'] },
    ]);
    const seats = (requested: number) => made.check(customerId, 'seats', { requested });
    expect(await seats(3)).toMatchObject({
      allowed: true,
      reasonCode: 'granted_by_override',
      reason: '3 requested, within the limit of 3 for seats by an override.',
      sources: ['override'],
      limit: 3,
    });
    expect(await seats(4)).toMatchObject({ allowed: false, reasonCode: 'limit_reached' });
    await overrides.put(customerId, 'seats', { value: 0 });
    expect(await seats(1)).toMatchObject({ allowed: false, reasonCode: 'override_denied' });
    await overrides.put(customerId, 'seats', { value: null });
    expect(await seats(1e9)).toMatchObject({ reasonCode: 'granted_by_override', effectiveValue: null });
    expect(await made.check(customerId, 'sso')).toMatchObject({
      allowed: false,
      reasonCode: 'override_denied',
      reason: 'An override takes sso away.',
      effectiveValue: false,
    });
    await overrides.remove(customerId, 'seats');
    await overrides.remove(customerId, 'sso');
    expect(await seats(11)).toMatchObject({ reasonCode: 'granted_soft_limit_exceeded' });
    expect((await made.check(customerId, 'sso')).reasonCode).toBe('granted');
  });

  it('ends when the override expires, to the millisecond, without any request', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { seats: 5 });
    const expiresMs = Date.now() + 3_600_000;
    const expiresAt = new Date(expiresMs).toISOString();
    await overrides.put(customerId, 'seats', { value: 9, expiresAt });
    await overrides.put(customerId, 'sso', { value: true, expiresAt });
    const seen = async () => ({
      list: (await made.list(customerId)).map((one) => one.effectiveValue),
      codes: [await made.check(customerId, 'seats'), await made.check(customerId, 'sso')].map(
        ({ reasonCode }) => reasonCode,
      ),
    });
    const overridden = { list: [9, true], codes: ['granted_by_override', 'granted_by_override'] };
    expect(await seen()).toEqual(overridden);
    frozenMs = expiresMs - 1;
    expect(await seen()).toEqual(overridden);
    frozenMs = expiresMs;
    expect(await seen()).toEqual({ list: [5], codes: ['granted', 'feature_not_included'] });
    frozenMs = undefined;
    const { body } = await overrides.list(customerId);
    expect(body.data).toMatchObject([{ expiresAt }, { expiresAt }]);
  });

  it('changes the ETag of the list', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { seats: 5 });
    const etag = async (headers: Record<string, string> = {}) =>
      api.request('entitlements.list', { params: { customerId }, headers });
    const before = String((await etag()).headers.etag);
    expect((await etag({ 'if-none-match': before })).status).toBe(304);
    await overrides.put(customerId, 'seats', { value: 6 });
    expect((await etag({ 'if-none-match': before })).status).toBe(200);
  });

  it('is deleted with its feature', async () => {
    const customerId = await made.customer();
    await made.feature('short-lived', 'boolean');
    const { body } = await overrides.put(customerId, 'short-lived', { value: true });
    expect((await api.request('features.delete', { params: { featureKey: 'short-lived' } })).status).toBe(
      204,
    );
    expect((await overrides.list(customerId)).body.total).toBe(0);
    expect(await made.list(customerId)).toEqual([]);
    expectRejection(await overrides.read(customerId, 'short-lived'), 'feature_not_found', 'featureKey');
    expect(await auditEntries(api.pool, body.id)).toHaveLength(1);
  });

  it('waits for the deletion of its feature, and is rejected then', async () => {
    const customerId = await made.customer();
    await made.feature('contested', 'boolean');
    let response: ReturnType<typeof overrides.put> | undefined;
    await inTransaction(api.pool, async (rival) => {
      await rival.query(`DELETE FROM features WHERE key = 'contested'`);
      response = overrides.put(customerId, 'contested', { value: true });
      await expect.poll(() => lockWaits(api.pool), { interval: 20, timeout: 20_000 }).toBe(1);
    });
    expectRejection(await (response as ReturnType<typeof overrides.put>), 'feature_not_found', 'featureKey');
  });

  it('is the last of many that are put at once', async () => {
    const customerId = await made.customer();
    const values = Array.from({ length: 8 }, (_, value) => value);
    const responses = await Promise.all(values.map((value) => overrides.put(customerId, 'seats', { value })));
    expect(responses.map(({ status }) => status)).toEqual(values.map(() => 200));
    const { body } = await overrides.read(customerId, 'seats');
    const entries = await auditEntries(api.pool, body.id);
    expect(entries).toHaveLength(8);
    expect(entries.filter(({ before }) => before === null)).toHaveLength(1);
  });
});
