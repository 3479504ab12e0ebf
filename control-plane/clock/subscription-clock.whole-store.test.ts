import type { Pool } from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { endJob, holdJob, shareEpoch } from '../../domain/store/job-leases.ts';
import { lockWaits } from '../../tests/support/lock-waits.ts';
import { startStopwatch } from '../../tests/support/stopwatch.ts';
import { apiOfThisTest } from '../api-under-test.ts';
import { FROM_THE_START, findDueRolls } from '../store/due-subscriptions.ts';
import { auditEntries, subscriptionsUnderTest } from '../subscriptions/subscriptions-under-test.ts';
import { moveSubscription } from './apply-due-change.ts';
import { clockUnderTest, DAY_MS, daysLater, lasting, START } from './clock-under-test.ts';
import { SUBSCRIPTION_CLOCK } from './subscription-clock.ts';

/*
 * The subscription clock over a real Postgres, with a clock that does not advance.
 *
 * Mutants this suite catches:
 * - the lease ignored (a process without it continues under its epoch): 'does nothing while another process';
 * - the epoch not checked in the move: 'a former owner';
 * - the row not checked again under its lock (found in place of locked): 'what was found due several times';
 * - one period rolled at a time: 'a downtime of months';
 * - a roll due by the end of its period alone, in the rule or in the query: 'a period of a millisecond';
 * - rolls before cancellations, or cancellations searched once in a pass: 'a cancellation waits';
 * - a move that may stay idle: 'an owner that hangs'.
 */
const WAIT = { timeout: 30_000, interval: 20 };

it('ends trials, cancels and rolls periods, each with its event and entry', async () => {
  const { add, clock, run, row, notified, pool } = await clockUnderTest();
  const ids = {
    trial: await add({ status: 'trialing', trialEnd: daysLater(14) }),
    cancel: await add({ cancelAt: daysLater(14) }),
    roll: await add(lasting(14 * DAY_MS)),
    processors: await add({
      ...lasting(14 * DAY_MS),
      processorSubscriptionId: 'si_1',
    }),
  };
  run();
  clock.now = daysLater(14);
  await vi.waitFor(async () => expect((await row(ids.cancel)).status).toBe('canceled'), WAIT);
  await vi.waitFor(async () => expect((await row(ids.trial)).status).toBe('active'), WAIT);
  await vi.waitFor(async () => expect((await row(ids.roll)).currentPeriodEnd).toEqual(daysLater(28)), WAIT);
  const { planId } = await row(ids.trial);
  const canceledAt = daysLater(14).toISOString();
  expect(await notified(ids.trial)).toEqual([
    { type: 'subscription.updated', data: { subscriptionId: ids.trial, status: 'active', planId } },
  ]);
  expect(await notified(ids.cancel)).toEqual([
    { type: 'subscription.canceled', data: { subscriptionId: ids.cancel, canceledAt } },
  ]);
  expect(await notified(ids.roll)).toHaveLength(1);
  expect(await notified(ids.processors)).toEqual([]);
  const { customerId } = await row(ids.cancel);
  const changes = { type: 'customer.updated', data: { customerId, changes: ['plan'] } };
  expect(await notified(customerId)).toEqual([changes]);
  expect(await auditEntries(pool, ids.trial)).toMatchObject([
    {
      actor: 'clock',
      action: 'subscriptions.endTrial',
      before: { status: 'trialing' },
      after: { status: 'active' },
    },
  ]);
});

it('a downtime of months is caught up with at once, and notified once', async () => {
  const { add, clock, run, row, notified } = await clockUnderTest();
  const id = await add({});
  clock.now = new Date('2026-06-30T12:00:00.000Z');
  run();
  const expected = {
    currentPeriodStart: '2026-06-30T00:00:00.000Z',
    currentPeriodEnd: '2026-07-31T00:00:00.000Z',
  };
  await vi.waitFor(
    async () => expect(JSON.parse(JSON.stringify(await row(id)))).toMatchObject(expected),
    WAIT,
  );
  expect(await notified(id)).toHaveLength(1);
});

it('a period of a millisecond is rolled once in ten seconds, and in between not looked at', async () => {
  const { add, clock, run, row, notified, metric, pool } = await clockUnderTest();
  const id = await add(lasting(1));
  run();
  const rolledAt = async (ms: number) => {
    clock.now = new Date(START.getTime() + ms);
    await vi.waitFor(async () => expect((await row(id)).currentPeriodStart).toEqual(clock.now), WAIT);
  };
  await rolledAt(5_000);
  clock.now = new Date(START.getTime() + 14_999);
  const requested = clock.requested;
  await vi.waitFor(() => expect(clock.requested).toBeGreaterThan(requested + 10), WAIT);
  expect(await metric('oldest_due_seconds')).toBe(0);
  expect(await findDueRolls(pool, clock.now, FROM_THE_START, 1)).toEqual([]);
  await rolledAt(15_000);
  await rolledAt(40_000);
  expect(await notified(id)).toHaveLength(3);
});

it('a cancellation waits for a chunk of rolls, not for all that are due', async () => {
  const { add, clock, pass, pool } = await clockUnderTest();
  const period = lasting(1);
  await Promise.all(Array.from({ length: 450 }, () => add(period)));
  const [early, late] = [await add({ cancelAt: daysLater(1) }), await add({ cancelAt: daysLater(2) })];
  clock.now = daysLater(1);
  const epoch = await holdJob(pool, SUBSCRIPTION_CLOCK, 'owner', 60_000);
  let held = 0;
  const hold = async () => {
    held += 1;
    // It becomes due only when the first chunk of rolls has been made.
    if (held === 3) clock.now = daysLater(2);
    return epoch;
  };
  expect(await pass(hold)).toBe(true);
  const { rows } = await pool.query('SELECT object_id FROM audit_log ORDER BY id');
  const moved = rows.map((entry) => entry.object_id);
  expect(moved).toHaveLength(452);
  expect(moved.indexOf(early)).toBe(0);
  expect(moved.indexOf(late)).toBeLessThan(150);
});

it('of several processes each move is made by one, once, over several chunks', async () => {
  const { add, clock, run, row, pool } = await clockUnderTest();
  const ids = await Promise.all(Array.from({ length: 450 }, () => add({ cancelAt: daysLater(1) })));
  clock.now = daysLater(2);
  const [first, second] = [run(), run()];
  await vi.waitFor(async () => expect(await left(pool)).toBe(0), WAIT);
  await Promise.all([first.close(), second.close()]);
  expect((await row(ids[0] ?? '')).status).toBe('canceled');
  const { rows } = await pool.query(
    `SELECT count(*)::int AS notified, count(DISTINCT object_id)::int AS subscriptions
       FROM webhook_events WHERE type = 'subscription.canceled'`,
  );
  expect(rows).toEqual([{ notified: 450, subscriptions: 450 }]);
});

it('does nothing while another process has the lease, and begins at once when that ends', async () => {
  const { add, clock, run, row, pool } = await clockUnderTest();
  const id = await add({ cancelAt: daysLater(1) });
  expect(await holdJob(pool, SUBSCRIPTION_CLOCK, 'other', 60_000)).toBe(1);
  clock.now = daysLater(2);
  run();
  await vi.waitFor(() => expect(clock.requested).toBeGreaterThan(5), WAIT);
  expect((await row(id)).status).toBe('active');
  await endJob(pool, SUBSCRIPTION_CLOCK, 'other');
  await vi.waitFor(async () => expect((await row(id)).status).toBe('canceled'), WAIT);
});

it('takes over from an owner that was killed, when its lease has run out', async () => {
  const { add, clock, run, row, pool } = await clockUnderTest();
  const id = await add({ cancelAt: daysLater(1) });
  await holdJob(pool, SUBSCRIPTION_CLOCK, 'killed', 700);
  const killedAt = performance.now();
  clock.now = daysLater(2);
  run();
  await vi.waitFor(async () => expect((await row(id)).status).toBe('canceled'), WAIT);
  expect(performance.now() - killedAt).toBeGreaterThan(500);
  const { rows } = await pool.query('SELECT epoch, owner FROM job_leases');
  expect(rows).toMatchObject([{ epoch: 2, owner: 'owner-1' }]);
});

it('an owner that hangs in the middle of a move is cut off, and the next one moves', async () => {
  const { add, clock, run, row, pool } = await clockUnderTest();
  const id = await add({ cancelAt: daysLater(1) });
  clock.now = daysLater(2);
  const epoch = (await holdJob(pool, SUBSCRIPTION_CLOCK, 'hanging', 500)) ?? 0;
  const hanging = await pool.connect();
  onTestFinished(() => hanging.release(true));
  await hanging.query('BEGIN');
  expect(await shareEpoch(hanging, SUBSCRIPTION_CLOCK, epoch)).toBe(true);
  await hanging.query('SELECT FROM subscriptions WHERE id = $1 FOR NO KEY UPDATE', [id]);
  const hangsSince = performance.now();
  const passedMs = startStopwatch();
  run();
  await vi.waitFor(async () => expect((await row(id)).status).toBe('canceled'), WAIT);
  expect(performance.now() - hangsSince).toBeGreaterThan(2_500);
  expect(passedMs()).toBeLessThan(6_000);
});

it('keeps its lease until it closes, and then releases it', async () => {
  const { run, pool, clock } = await clockUnderTest();
  const first = run({ leaseMs: 60_000 });
  await vi.waitFor(() => expect(clock.requested).toBeGreaterThan(3), WAIT);
  expect((await pool.query('SELECT epoch FROM job_leases')).rows).toEqual([{ epoch: 1 }]);
  expect(await holdJob(pool, SUBSCRIPTION_CLOCK, 'next', 1_000)).toBeUndefined();
  await first.close();
  expect(await holdJob(pool, SUBSCRIPTION_CLOCK, 'next', 1_000)).toBe(2);
});

it('a former owner changes nothing, not even when it comes to it only now', async () => {
  const { add, row, pool, environment, notified } = await clockUnderTest();
  const id = await add({ cancelAt: daysLater(1) });
  const epoch = (await holdJob(pool, SUBSCRIPTION_CLOCK, 'former', -1)) ?? 0;
  await holdJob(pool, SUBSCRIPTION_CLOCK, 'next', 60_000);
  const turn = { pool, job: SUBSCRIPTION_CLOCK, epoch, nowMs: daysLater(2).getTime() };
  await expect(moveSubscription(turn, { environment, id })).rejects.toMatchObject({ code: 'lease_lost' });
  expect((await row(id)).status).toBe('active');
  expect(await notified(id)).toEqual([]);
  expect(await moveSubscription({ ...turn, epoch: epoch + 1 }, { environment, id })).toBe(true);
});

it('what was found due several times is moved once, and what is due no more not at all', async () => {
  const { add, row, pool, environment, notified } = await clockUnderTest();
  const epoch = (await holdJob(pool, SUBSCRIPTION_CLOCK, 'owner', 60_000)) ?? 0;
  const turn = { pool, job: SUBSCRIPTION_CLOCK, epoch, nowMs: daysLater(2).getTime() };
  const due = { environment, id: await add({ cancelAt: daysLater(1) }) };
  const moves = await Promise.all(Array.from({ length: 6 }, () => moveSubscription(turn, due)));
  expect(moves.filter((isMoved) => isMoved)).toHaveLength(1);
  expect(await notified(due.id)).toHaveLength(1);

  // Found due; then its owner took the cancellation back and has not committed yet.
  const kept = { environment, id: await add({ cancelAt: daysLater(1) }) };
  const owner = await pool.connect();
  await owner.query('BEGIN');
  await owner.query('UPDATE subscriptions SET cancel_at = NULL WHERE id = $1', [kept.id]);
  const move = moveSubscription(turn, kept);
  await vi.waitFor(async () => expect(await lockWaits(pool)).toBe(1), WAIT);
  await owner.query('COMMIT');
  owner.release();
  expect(await move).toBe(false);
  expect((await row(kept.id)).status).toBe('active');
  expect(await notified(kept.id)).toEqual([]);
});

// Red when a failure ends the pass: there are more failures than concurrent moves.
it('subscriptions that cannot be moved delay no other', async () => {
  const { add, clock, run, reject, pool, metric } = await clockUnderTest();
  for (let n = 0; n < 8; n += 1) await add({ cancelAt: daysLater(1), metadata: '{"bad":true}' });
  for (let n = 0; n < 5; n += 1) await add({ cancelAt: daysLater(2) });
  await reject(`RAISE 'no'`);
  clock.now = daysLater(3);
  run();
  await vi.waitFor(async () => expect(await left(pool)).toBe(8), WAIT);
  // For two days: those that could not.
  await vi.waitFor(async () => expect(await metric('oldest_due_seconds')).toBe(2 * 86_400), WAIT);
  expect(await metric('moves_total')).toBe(5);
  expect(await metric('move_failures_total')).toBeGreaterThanOrEqual(8);
});

it('the control plane runs it: a trial ends by itself within ten seconds', async () => {
  const api = await apiOfThisTest();
  const { subscribe, notified } = subscriptionsUnderTest(api);
  const trialEnd = new Date(Date.now() + 4_000).toISOString();
  const { body } = await subscribe({ trialEnd });
  const params = { subscriptionId: body.id };
  const status = async () => (await api.request('subscriptions.retrieve', { params })).body.status;
  expect(await status()).toBe('trialing');
  await vi.waitFor(async () => expect(await status()).toBe('active'), { ...WAIT, timeout: 14_000 });
  expect((await notified(body.id)).map(({ type }) => type)).toEqual([
    'subscription.created',
    'subscription.updated',
  ]);
});

/** Of those that are to be canceled. */
async function left(pool: Pool): Promise<number> {
  const { rows } = await pool.query(`SELECT count(*) FROM subscriptions WHERE status <> 'canceled'`);
  return rows[0].count;
}
