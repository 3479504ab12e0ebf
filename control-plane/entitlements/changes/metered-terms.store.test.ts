import { describe, expect, it } from 'vitest';
import { meteredPeriod } from '../../../domain/rules/metered-terms.ts';
import { readMeteredTerms } from '../../../domain/store/metered-terms.ts';
import { inTransaction } from '../../../infra/postgres/pool.ts';
import { calendarSpan } from '../../../schemas/primitives/calendar.ts';
import { apiOfThisFile } from '../../api-under-test.ts';
import { lockNotified } from '../../store/notified-entitlements.ts';
import { customerGrantsUnderTest } from '../customer-grants-under-test.ts';
import { notifiedUnderTest, termsOf } from './changes-under-test.ts';

/*
 * What each kind of change records for a customer's meter, and from which time on, over HTTP and a real
 * Postgres.
 *
 * Mutants this suite catches: a change of many that takes effect when the notifier reaches the customer;
 * nothing written ahead; a period that starts again where its subscription continues, or follows a paused
 * one; rows written where nothing has changed.
 */
const DAY_MS = 86_400_000;
const clock = { atMs: Date.now(), nowMs: () => clock.atMs, monotonicMs: () => performance.now() };

const api = await apiOfThisFile(undefined, { clock });
const made = customerGrantsUnderTest(api);
const notified = notifiedUnderTest(api.pool, api.environment);
const terms = (customerId: string, meterKey = 'calls') => termsOf(api.pool, customerId, meterKey);
for (const key of ['calls', 'bytes']) await made.meteredFeature(key);

describe('a change of one customer', () => {
  it('applies from its own time on, within the current period', async () => {
    const { customerId, id, startMs } = await subscribed({ calls: 100 });
    const planId = await made.plan({ calls: 50 });
    const changedMs = pass(5_000);
    await made.change(id, { planId });
    expect(await terms(customerId)).toEqual([
      { at: startMs, period: startMs, limits: ['100'], from: id },
      { at: changedMs, period: startMs, limits: ['50'], from: id },
    ]);
    expect(await marks(customerId)).toEqual([monthOf(startMs), startMs, changedMs]);
    const endedMs = pass(5_000);
    await made.cancel(id, 'now');
    expect((await terms(customerId)).at(-1)).toEqual({
      at: endedMs,
      period: endedMs,
      limits: [],
      from: null,
    });
  });

  it('writes nothing where it changes no meter', async () => {
    const { customerId, id, planId } = await subscribed({ calls: 100 });
    const before = await written(customerId);
    await marks(customerId);
    pass(1_000);
    await made.change(id, { planId });
    await made.change(id, { metadata: { of: 'no concern' } });
    await made.override(customerId, 'calls', { value: 100 });
    expect(await written(customerId)).toEqual(before);
    expect(await marks(customerId)).toEqual([]);
  });

  it('leaves the history of its other meters alone', async () => {
    const { customerId, id, startMs } = await subscribed({ calls: 100, bytes: 7 });
    const planId = await made.plan({ calls: 50, bytes: 7 });
    const changedMs = pass(1_000);
    await made.change(id, { planId });
    expect(await terms(customerId, 'bytes')).toEqual([
      { at: startMs, period: startMs, limits: ['7'], from: id },
    ]);
    expect((await terms(customerId)).map(({ at }) => at)).toEqual([startMs, changedMs]);
  });

  it('of a period that is recorded ahead leaves the running one, however many changes follow', async () => {
    const endMs = clock.atMs + 10 * DAY_MS;
    const { customerId, id, startMs } = await subscribed({ calls: 100 }, { currentPeriodEnd: text(endMs) });
    pass(1_000);
    await made.change(id, { currentPeriodStart: text(endMs), currentPeriodEnd: text(endMs + 30 * DAY_MS) });
    for (let value = 1; value < 10; value += 1) {
      pass(1_000);
      await made.override(customerId, 'calls', { value });
    }
    const meter = { environment: api.environment, customerId, meterKey: 'calls' };
    const from = new Date(clock.atMs);
    const read = await readMeteredTerms(api.pool, [{ ...meter, from }]);
    expect(meteredPeriod(read, clock.atMs)).toEqual({ fromMs: startMs, toMs: endMs });
    expect(meteredPeriod(read, endMs).fromMs).toBe(endMs);
  });

  it('that begins ahead is written ahead, and one that has begun applies from its start on', async () => {
    const startMs = clock.atMs + 40 * DAY_MS;
    const ahead = await subscribed({ calls: 100 }, { currentPeriodStart: text(startMs) });
    expect(await terms(ahead.customerId)).toEqual([
      { at: startMs, period: startMs, limits: ['100'], from: ahead.id },
    ]);
    expect(await marks(ahead.customerId)).toEqual([]);
    const begunMs = clock.atMs - 10 * DAY_MS;
    const imported = await subscribed({ calls: 100 }, { currentPeriodStart: text(begunMs) });
    expect(await terms(imported.customerId)).toEqual([
      { at: begunMs, period: begunMs, limits: ['100'], from: imported.id },
    ]);
    expect((await marks(imported.customerId))[0]).toBe(monthOf(begunMs));
  });
});

describe('of two subscriptions', () => {
  it('the older one gives the periods, and continues while the newer one is paused', async () => {
    const { customerId, id, startMs } = await subscribed({ calls: 100 });
    const secondMs = pass(1_000);
    const younger = await made.subscribe(customerId, { calls: 11 });
    const pausedMs = pass(1_000);
    await made.change(younger, { status: 'paused' });
    expect(await terms(customerId)).toEqual([
      { at: startMs, period: startMs, limits: ['100'], from: id },
      { at: secondMs, period: startMs, limits: ['111'], from: id },
      { at: pausedMs, period: startMs, limits: ['100'], from: id },
    ]);
  });

  it('the younger one begins its period where the older one ends', async () => {
    const { customerId, id } = await subscribed({ calls: 100 });
    pass(1_000);
    const younger = await made.subscribe(customerId, { calls: 11 });
    const endedMs = pass(1_000);
    await made.cancel(id, 'now');
    expect((await terms(customerId)).at(-1)).toEqual({
      at: endedMs,
      period: endedMs,
      limits: ['11'],
      from: younger,
    });
  });
});

describe('what time will change', () => {
  it('is written ahead of an override, and stays as it was written once that has expired', async () => {
    const { customerId, id, startMs } = await subscribed({ calls: 100 });
    const putMs = pass(1_000);
    await made.override(customerId, 'calls', { value: 500, expiresAt: text(putMs + 60_000) });
    const expected = [
      { at: startMs, period: startMs, limits: ['100'], from: id },
      { at: putMs, period: startMs, limits: ['500'], from: id },
      { at: putMs + 60_000, period: startMs, limits: ['100'], from: id },
    ];
    expect(await terms(customerId)).toEqual(expected);
    const before = await written(customerId);
    pass(90_000);
    await turned(customerId);
    expect(await written(customerId)).toEqual(before);
  });

  it('is written ahead of an overdue payment, and taken back once it is paid', async () => {
    const { customerId, id, startMs } = await subscribed({ calls: 100 });
    const { body: workspace } = await api.request('workspace.retrieve', {});
    const overdueMs = pass(1_000);
    await made.change(id, { status: 'past_due' });
    const running = { at: startMs, period: startMs, limits: ['100'], from: id };
    const graceMs = overdueMs + workspace.pastDueGraceDays * DAY_MS;
    expect(await terms(customerId)).toEqual([running, { ...running, at: graceMs, limits: [] }]);
    pass(1_000);
    await made.change(id, { status: 'active' });
    expect(await terms(customerId)).toEqual([running]);
  });
});

describe('a change of many', () => {
  it('applies from its own time on, whenever each customer is processed', async () => {
    const planId = await made.plan({ calls: 100 });
    const customers: Array<Awaited<ReturnType<typeof subscribed>>> = [];
    for (let at = 0; at < 3; at += 1) customers.push(await subscribed({}, { planId }));
    pass(1_000);
    let changedMs = 0;
    await inTransaction(api.pool, async (db) => {
      const ids = customers.map(({ customerId }) => customerId);
      await lockNotified(db, api.environment, ids);
      changedMs = clock.atMs;
      await made.giveInstead(planId, { calls: 30 });
      pass(60_000);
    });
    await notified.quiet();
    for (const { customerId, id, startMs } of customers) {
      expect(await terms(customerId)).toEqual([
        { at: startMs, period: startMs, limits: ['100'], from: id },
        { at: changedMs, period: startMs, limits: ['30'], from: id },
      ]);
      expect(await marks(customerId)).toContain(changedMs);
    }
  });

  it('that removes a feature and grants it again resets no period', async () => {
    const { customerId, id, planId, startMs } = await subscribed({ calls: 100 });
    const takenMs = pass(1_000);
    await made.giveInstead(planId, {});
    await notified.quiet();
    const givenMs = pass(1_000);
    await made.giveInstead(planId, { calls: null });
    await notified.quiet();
    expect(await terms(customerId)).toEqual([
      { at: startMs, period: startMs, limits: ['100'], from: id },
      { at: takenMs, period: takenMs, limits: [], from: null },
      { at: givenMs, period: startMs, limits: ['unlimited'], from: id },
    ]);
  });
});

/** Returns the time after it. */
function pass(ms: number): number {
  clock.atMs += ms;
  return clock.atMs;
}

interface Fields {
  planId?: string;
  currentPeriodStart?: string;
  currentPeriodEnd?: string;
}

async function subscribed(given: Record<string, number>, fields: Fields = {}) {
  const customerId = await made.customer();
  const planId = fields.planId ?? (await made.plan(given));
  const startMs = pass(10);
  return { customerId, planId, startMs, id: await made.subscribe(customerId, {}, { ...fields, planId }) };
}

/** Rows with the transactions that wrote them. */
async function written(customerId: string) {
  const sql = 'SELECT xmin::text, starts_at FROM metered_terms WHERE customer_id = $1 ORDER BY 2';
  return (await api.pool.query(sql, [customerId])).rows;
}

/** From when on its usage is settled again, according to the new marks. */
async function marks(customerId: string): Promise<number[]> {
  const { rows } = await api.pool.query<{ from: Date }>(
    'DELETE FROM settlement_marks WHERE customer_id = $1 RETURNING from_at AS "from"',
    [customerId],
  );
  return [...new Set(rows.map(({ from }) => from.getTime()))].sort((a, b) => a - b);
}

/** The customers whose usage the change may have divided into other periods. */
function monthOf(atMs: number): number {
  return calendarSpan('month', atMs).fromMs;
}

/** The notifier has processed the time that has come for the customer. */
async function turned(customerId: string): Promise<void> {
  const sql = 'SELECT count(*) AS left FROM entitlements_told WHERE customer_id = $1 AND next_turn <= $2';
  const left = async () => (await api.pool.query(sql, [customerId, new Date(clock.atMs)])).rows[0].left;
  await expect.poll(left, { timeout: 60_000, interval: 50 }).toBe(0);
}

function text(ms: number): string {
  return new Date(ms).toISOString();
}
