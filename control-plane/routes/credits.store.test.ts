import { describe, expect, it } from 'vitest';
import { burnCredits } from '../../domain/credits/move-credits.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { CUSTOMER_GRANTS_MAX } from '../../schemas/resources/credits.ts';
import { apiOfThisFile, type CallOptions, expectRejection } from '../api-under-test.ts';
import {
  auditEntries,
  catalogueUnderTest,
  emittedEvents,
  inMinutes,
} from '../subscriptions/subscriptions-under-test.ts';

/*
 * Credits over HTTP; the tests of domain/credits show how they move.
 *
 * Mutants this suite catches: a statement without its environment; the amount read as a double; an expired
 * grant shown; the ledger oldest first; a grant made again under its Idempotency-Key; no event, or no audit
 * entry, for it.
 */
const api = await apiOfThisFile();
const { environment } = api;

const newCustomer = () => catalogueUnderTest(api.pool, environment).customer();
const grant = (customerId: string, body: unknown, options: CallOptions = {}) =>
  api.request('credits.grant', { params: { customerId }, ...options, body });
const credits = async (customerId: string) =>
  (await api.request('credits.retrieve', { params: { customerId } })).body;
const ledger = async (customerId: string, query: Record<string, number> = {}) =>
  (await api.request('credits.listLedger', { params: { customerId }, query })).body;

function burn(customerId: string, amount: string, meterKey = 'calls'): Promise<void> {
  const what = { environment, customerId, amount, meterKey, periodStart: new Date('2026-01-01T00:00:00Z') };
  return inTransaction(api.pool, (db) => burnCredits(db, { nowMs: Date.now(), burns: [what] }));
}

it('a grant is made, shown, notified and recorded', async () => {
  const customerId = await newCustomer();
  expect(await credits(customerId)).toEqual({ customerId, balance: 0, unpaid: 0, grants: [] });
  const expiresAt = inMinutes(60);
  const { status, body } = await grant(customerId, {
    amount: 250.5,
    reason: 'Welcome',
    expiresAt,
    priority: 7,
  });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^grant_[a-z2-7]{26}$/),
    customerId,
    amount: 250.5,
    remaining: 250.5,
    reason: 'Welcome',
    priority: 7,
    expiresAt,
    createdAt: expect.any(String),
  });
  expect(await credits(customerId)).toEqual({ customerId, balance: 250.5, unpaid: 0, grants: [body] });
  expect(await emittedEvents(api.pool, body.id)).toEqual([
    { type: 'credit.granted', data: { customerId, amount: 250.5, reason: 'Welcome' } },
  ]);
  expect(await auditEntries(api.pool, body.id)).toMatchObject([{ action: 'credits.grant', after: body }]);
  expect((await ledger(customerId)).data).toEqual([
    {
      type: 'grant',
      amount: 250.5,
      unpaid: 0,
      grantId: body.id,
      createdAt: body.createdAt,
      updatedAt: body.createdAt,
    },
  ]);
});

it('the digits of an amount come back as they were sent', async () => {
  const customerId = await newCustomer();
  const body = '{"amount":123456789012345.000000000001,"reason":"exact"}';
  const { text } = await grant(customerId, body);
  expect(text).toContain('"amount":123456789012345.000000000001,');
  await burn(customerId, '0.000000000000000000000001');
  const response = await api.request('credits.retrieve', { params: { customerId } });
  expect(response.text).toContain('"balance":123456789012345.000000000000999999999999,');
});

it('usage beyond all credits is shown as unpaid, and the next grant pays it first', async () => {
  const customerId = await newCustomer();
  await grant(customerId, { amount: 10, reason: 'first' });
  await burn(customerId, '12');
  expect(await credits(customerId)).toMatchObject({ balance: 0, unpaid: 2, grants: [] });
  const { body } = await grant(customerId, { amount: 5, reason: 'second' });
  expect(body).toMatchObject({ amount: 5, remaining: 3 });
  expect(await credits(customerId)).toMatchObject({ balance: 3, unpaid: 0, grants: [{ remaining: 3 }] });
  expect((await emittedEvents(api.pool, customerId)).map(({ type }) => type)).toEqual(['credit.depleted']);
  const { data, total } = await ledger(customerId);
  expect(total).toBe(4);
  expect(data.map(({ type, amount, unpaid }) => [type, amount, unpaid])).toEqual([
    ['repayment', -2, -2],
    ['grant', 5, 0],
    ['burn', -10, 2],
    ['grant', 10, 0],
  ]);
  expect(data[2]).toMatchObject({ meterKey: 'calls', periodStart: '2026-01-01T00:00:00.000Z' });
  expect((await ledger(customerId, { page: 2, pageSize: 3 })).data).toEqual([data[3]]);
});

it('grants are shown in the order in which they are burned', async () => {
  const customerId = await newCustomer();
  const made: Record<string, string> = {};
  const later = { expiresAt: inMinutes(90) };
  for (const [name, fields] of Object.entries({
    never: {},
    last: { priority: 500 },
    soon: { expiresAt: inMinutes(30) },
    later,
    younger: later,
    first: { priority: 0 },
  })) {
    made[name] = (await grant(customerId, { amount: 1, reason: name, ...fields })).body.id;
  }
  const names = async () => (await credits(customerId)).grants.map(({ reason }) => reason);
  const order = ['first', 'soon', 'later', 'younger', 'never', 'last'];
  expect(await names()).toEqual(order);
  for (const [at, name] of order.entries()) {
    expect((await names())[0]).toBe(name);
    await burn(customerId, '1', `meter-${at}`);
  }
  expect(await names()).toEqual([]);
});

it('what has expired is no part of the balance from its expiry on', async () => {
  const customerId = await newCustomer();
  const soonMs = Date.now() + 3_000;
  const expiresAt = new Date(soonMs).toISOString();
  expect((await grant(customerId, { amount: 5, reason: 'short', expiresAt })).status).toBe(201);
  await grant(customerId, { amount: 2, reason: 'long' });
  await expect.poll(async () => (await credits(customerId)).balance, { timeout: 20_000 }).toBe(2);
  expect(Date.now()).toBeGreaterThanOrEqual(soonMs);
  const expiry = { type: 'expiry', amount: -5, unpaid: 0 };
  await expect
    .poll(async () => (await ledger(customerId)).data[0], { timeout: 10_000 })
    .toMatchObject(expiry);
});

describe('a grant', () => {
  const body = { amount: 5, reason: 'once' };

  it('is made once under one Idempotency-Key', async () => {
    const customerId = await newCustomer();
    const headers = { 'idempotency-key': `grant to ${customerId}` };
    const first = await grant(customerId, body, { headers });
    const again = await grant(customerId, body, { headers });
    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expectRejection(await grant(customerId, { ...body, amount: 6 }, { headers }), 'idempotency_key_reused');
    expect(await credits(customerId)).toMatchObject({ balance: 5 });
  });

  it.each([
    { amount: 0 },
    { amount: -1 },
    { amount: '5' },
    { amount: undefined },
    { reason: '' },
    { reason: ' ' },
    { reason: undefined },
    { reason: 'x'.repeat(201) },
    { priority: -1 },
    { priority: 1_001 },
    { priority: 1.5 },
    { expiresAt: '2020-01-01T00:00:00Z' },
    { expiresAt: 'tomorrow' },
    { expiresAt: 1_900_000_000 },
  ])('is rejected with %o', async (fields) => {
    const customerId = await newCustomer();
    const rejected = await grant(customerId, { ...body, ...fields });
    expectRejection(rejected, 'invalid_request', Object.keys(fields)[0]);
    expect(await credits(customerId)).toMatchObject({ balance: 0 });
  });

  it.each(['1e15', '0.0000000000001', '1e400'])('of %s has too many digits', async (amount) => {
    const customerId = await newCustomer();
    const response = await grant(customerId, `{"amount":${amount},"reason":"digits"}`);
    expectRejection(response, 'value_invalid', 'amount');
  });

  it('is rejected for an archived or unknown customer and in another environment', async () => {
    const customerId = await newCustomer();
    await grant(customerId, body);
    const theirs = { key: api.keys.test.secret };
    for (const name of [customerId, 'cus_gone']) {
      const params = { customerId: name };
      expectRejection(await grant(name, body, theirs), 'customer_not_found', 'customerId');
      for (const operation of ['credits.retrieve', 'credits.listLedger'] as const) {
        const response = await api.request(operation, { ...theirs, params });
        expectRejection(response, 'customer_not_found', 'customerId');
      }
    }
    await api.request('customers.archive', { params: { customerId } });
    expectRejection(await grant(customerId, body), 'customer_archived', 'customerId');
    expect(await credits(customerId)).toMatchObject({ balance: 5 });
  });

  it('is granted to a customer by its externalId too', async () => {
    const externalId = 'credited';
    const customer = { name: 'Ada', email: 'ada@example.com', externalId };
    const { id } = (await api.request('customers.create', { body: customer })).body;
    expect((await grant(externalId, body)).body.customerId).toBe(id);
    expect((await credits(externalId)).customerId).toBe(id);
    expect((await ledger(externalId)).total).toBe(1);
  });

  it('needs its scope, and so do the readings', async () => {
    const customerId = await newCustomer();
    const params = { customerId };
    const reader = await api.addKey({ scopes: ['entitlements:read'] });
    const writer = await api.addKey({ scopes: ['subscriptions:write'] });
    expectRejection(await grant(customerId, body, { key: reader }), 'insufficient_scope');
    expect((await grant(customerId, body, { key: writer })).status).toBe(201);
    for (const operation of ['credits.retrieve', 'credits.listLedger'] as const) {
      expectRejection(await api.request(operation, { key: writer, params }), 'insufficient_scope');
      expect((await api.request(operation, { key: reader, params })).status).toBe(200);
    }
  });

  it('is one too many when five hundred have something left', async () => {
    const customerId = await newCustomer();
    await grant(customerId, body);
    await api.pool.query(
      `INSERT INTO credit_grants
         (id, environment, customer_id, amount, remaining, reason, priority, expires_at, created_at)
       SELECT 'grant_' || n, environment, customer_id, 1, 1, reason, priority,
              CASE n WHEN 1 THEN now() - interval '1 s' END, now()
         FROM credit_grants, generate_series(1, $2) AS n WHERE customer_id = $1`,
      [customerId, CUSTOMER_GRANTS_MAX - 1],
    );
    await api.pool.query('UPDATE credit_wallets SET balance = balance + $2 WHERE customer_id = $1', [
      customerId,
      CUSTOMER_GRANTS_MAX - 1,
    ]);
    const rivals = await Promise.all([grant(customerId, body), grant(customerId, body)]);
    expect(rivals.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect((await credits(customerId)).grants).toHaveLength(CUSTOMER_GRANTS_MAX);
  });
});
