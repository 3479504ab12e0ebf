import { expect, it } from 'vitest';
import { burnCredits } from '../../domain/credits/move-credits.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import {
  auditEntries,
  catalogueUnderTest,
  emittedEvents,
  inMinutes,
} from '../subscriptions/subscriptions-under-test.ts';

/*
 * Grants that were made by mistake. Mutants this suite catches: voided-grant-keeps-its-balance; a second void
 * that is recorded again; a grant of another customer or environment.
 */
const api = await apiOfThisFile();
const { environment } = api;
const newCustomer = () => catalogueUnderTest(api.pool, environment).customer();

async function granted(customerId: string, amount: number, more: object = {}): Promise<string> {
  const body = { amount, reason: 'test', ...more };
  return (await api.request('credits.grant', { params: { customerId }, body })).body.id;
}

const voidGrant = (customerId: string, grantId: string, body: object = {}) =>
  api.request('credits.voidGrant', { params: { customerId, grantId }, body });
const shorten = (customerId: string, grantId: string, expiresAt: string) =>
  api.request('credits.updateGrant', { params: { customerId, grantId }, body: { expiresAt } });

async function walletOf(customerId: string) {
  const { body } = await api.request('credits.retrieve', { params: { customerId } });
  const entries = await api.request('credits.listLedger', { params: { customerId } });
  return { balance: body.balance, unpaid: body.unpaid, ledger: entries.body.data.map((one) => one.amount) };
}

function burn(customerId: string, amount: string): Promise<void> {
  const periodStart = new Date('2026-01-01T00:00:00Z');
  const what = { environment, customerId, amount, meterKey: 'calls', periodStart };
  return inTransaction(api.pool, (db) => burnCredits(db, { nowMs: Date.now(), burns: [what] }));
}

it('what is left of a voided grant goes, once, and what it paid for stays paid', async () => {
  const customerId = await newCustomer();
  const grantId = await granted(customerId, 10_000);
  await burn(customerId, '40.5');
  const { status, body } = await voidGrant(customerId, grantId, { reason: 'ten times as much' });
  expect(status).toBe(200);
  expect(body).toMatchObject({ id: grantId, amount: 10_000, remaining: 0, expiresAt: expect.any(String) });
  const after = { balance: 0, unpaid: 0, ledger: [-9_959.5, -40.5, 10_000] };
  expect(await walletOf(customerId)).toEqual(after);
  const again = await voidGrant(customerId, grantId);
  expect(again.body).toEqual(body);
  expect(await walletOf(customerId)).toEqual(after);
  expect((await auditEntries(api.pool, grantId)).slice(1)).toMatchObject([
    { action: 'credits.voidGrant', after: { remaining: 0, changeReason: 'ten times as much' } },
  ]);
  expect(
    (await emittedEvents(api.pool, customerId)).filter(({ type }) => type === 'credit.depleted'),
  ).toEqual([{ type: 'credit.depleted', data: { customerId, balance: 0 } }]);
});

it('what comes back to a voided grant is not spent again', async () => {
  const customerId = await newCustomer();
  const grantId = await granted(customerId, 100);
  await burn(customerId, '30');
  await voidGrant(customerId, grantId);
  await burn(customerId, '-30');
  expect(await walletOf(customerId)).toMatchObject({ balance: 0, unpaid: 0 });
});

it('a grant expires earlier, and not later, when it is asked for', async () => {
  const customerId = await newCustomer();
  const grantId = await granted(customerId, 5, { expiresAt: inMinutes(60) });
  const expiresAt = inMinutes(30);
  expect((await shorten(customerId, grantId, expiresAt)).body).toMatchObject({ expiresAt, remaining: 5 });
  expect((await shorten(customerId, grantId, expiresAt)).status).toBe(200);
  expect(await auditEntries(api.pool, grantId)).toHaveLength(2);
  expectRejection(await shorten(customerId, grantId, inMinutes(45)), 'invalid_request', 'expiresAt');
  expectRejection(await shorten(customerId, grantId, inMinutes(-1)), 'invalid_request', 'expiresAt');
  await voidGrant(customerId, grantId);
  expectRejection(await shorten(customerId, grantId, inMinutes(1)), 'illegal_transition');
});

it('a grant of another customer is not found', async () => {
  const [customerId, other] = [await newCustomer(), await newCustomer()];
  const grantId = await granted(other, 5);
  expectRejection(await voidGrant(customerId, grantId), 'not_found', 'grantId');
  expectRejection(await shorten(customerId, grantId, inMinutes(1)), 'not_found', 'grantId');
  expectRejection(await voidGrant('nobody', grantId), 'customer_not_found', 'customerId');
  expect(await walletOf(other)).toMatchObject({ balance: 5 });
});
