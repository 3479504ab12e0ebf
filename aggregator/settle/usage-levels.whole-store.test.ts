import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../infra/ports/clock.ts';
import { createRandom } from '../../tests/support/random.ts';
import { start, WAIT } from '../aggregator-under-test.ts';
import { audit } from '../audit/audit-under-test.ts';
import { AUDIT_EXIT } from '../audit/request-audit.ts';
import { CUSTOMER, ENVIRONMENT, METER, openTenant } from './settlement-under-test.ts';

/*
 * What the settlement keeps of limits and budgets, in real stores under a clock that the test sets.
 *
 * Breaks that it catches: only usage below an uncrossed threshold is kept; a limit that ended keeps its row;
 * the share of the smallest limit; a period that ends keeps its row; usage ahead of its period forgotten with
 * it; a limit that time changes settled by the next usage only; a budget that is gone with the window of a
 * fuller limit, or hidden by one that nothing was used of; one that never resets gone with a period.
 */
const DAY_MS = 86_400_000;
/** The middle of a month. */
const BEGINS_MS = Date.UTC(2026, 4, 15, 9, 13, 7);

interface Level {
  share: number;
  current: number;
  limit: number | null;
  budget: number | null;
  periodStart: number;
  periodEnd: number;
}

async function open() {
  const { stores, tenant } = await openTenant();
  const clock = { ...systemClock, nowMs: () => time.nowMs };
  const time = { nowMs: BEGINS_MS };
  start(stores, { clock });
  async function level(): Promise<Level | undefined> {
    const { rows } = await stores.pool.query(
      `SELECT share, current, usage_limit, budget, period_start, period_end FROM usage_levels
        WHERE environment = $1 AND customer_id = $2 AND meter_key = $3`,
      [ENVIRONMENT, CUSTOMER, METER],
    );
    const [row] = rows;
    const number = (text: string | null) => (text === null ? null : Number(text));
    return (
      row && {
        ...{ share: Number(row.share), current: Number(row.current) },
        ...{ limit: number(row.usage_limit), budget: number(row.budget) },
        ...{ periodStart: row.period_start.getTime(), periodEnd: row.period_end.getTime() },
      }
    );
  }
  const becomes = (expected: Partial<Level> | undefined) =>
    vi.waitFor(async () => {
      const found = await level();
      if (expected) expect(found).toMatchObject(expected);
      else expect(found).toBeUndefined();
    }, WAIT);
  const mark = (fromMs: number) =>
    stores.pool.query(
      `INSERT INTO settlement_marks (environment, customer_id, meter_key, from_at) VALUES ($1, $2, $3, $4)`,
      [ENVIRONMENT, CUSTOMER, METER, new Date(fromMs)],
    );
  return { stores, tenant, time, becomes, mark };
}

describe('the level of a customer meter', () => {
  it('follows usage, also after every threshold was crossed, and corrections', async () => {
    const { tenant, time, becomes } = await open();
    await tenant.limit('30', time.nowMs - DAY_MS);
    const use = (value: string) => tenant.use({ value, occurredAtMs: time.nowMs });
    await use('10');
    await becomes({ share: 0.333333, current: 10, limit: 30, budget: null, periodStart: BEGINS_MS - DAY_MS });
    await use('20');
    await becomes({ share: 1, current: 30 });
    await use('15');
    await becomes({ share: 1.5, current: 45 });
    await use('-44.5');
    await becomes({ share: 0.016666, current: 0.5 });
    await use('-0.5');
    await becomes(undefined);
  });

  it('follows limits and budgets, and ends with the last of them', async () => {
    const { stores, tenant, time, becomes, mark } = await open();
    // Of the calendar month, which ends with the subscription.
    await tenant.use({ value: '10', occurredAtMs: time.nowMs - 1 });
    await tenant.limit('40', time.nowMs);
    await tenant.use({ value: '10', occurredAtMs: time.nowMs });
    await becomes({ share: 0.25, limit: 40 });
    await tenant.budget('8', '16');
    await mark(time.nowMs);
    await becomes({ share: 0.625, limit: 40, budget: 16 });
    time.nowMs += 60_000;
    await tenant.limit('5', time.nowMs);
    await becomes({ share: 2, limit: 5, budget: 16 });
    time.nowMs += 60_000;
    await tenant.limit(null, time.nowMs);
    await becomes({ share: 0.625, limit: null, budget: 16 });
    await stores.pool.query('UPDATE budgets SET hard = NULL');
    await mark(time.nowMs);
    await becomes({ share: 1.25, budget: 8 });
    time.nowMs += 60_000;
    await tenant.limit('0', time.nowMs);
    await stores.pool.query('DELETE FROM budgets');
    await mark(time.nowMs);
    await becomes({ share: 1, limit: 0, budget: null });
    time.nowMs += 60_000;
    await tenant.limit(undefined, time.nowMs);
    await becomes(undefined);
  });

  it('ends with its period, and begins with what was used ahead of the next one', async () => {
    const { tenant, time, becomes } = await open();
    await tenant.limit('30', time.nowMs);
    const nextMs = Date.UTC(2026, 5, 15, 9, 13, 7);
    await tenant.use({ value: '15', occurredAtMs: time.nowMs });
    await becomes({ share: 0.5, periodEnd: nextMs });
    time.nowMs = nextMs - 1_000;
    await tenant.use({ value: '3', occurredAtMs: nextMs + 1_000 });
    await becomes({ share: 0.5 });
    time.nowMs = nextMs;
    await becomes({ share: 0.1, current: 3, periodStart: nextMs });
    time.nowMs = nextMs + 31 * DAY_MS;
    await becomes(undefined);
  });

  it('follows a limit that time changes, without new usage', async () => {
    const { stores, tenant, time, becomes } = await open();
    await tenant.limit('30', time.nowMs);
    const aheadMs = time.nowMs + 3_600_000;
    await tenant.limit('60', aheadMs);
    await tenant.use({ value: '15', occurredAtMs: time.nowMs });
    await becomes({ share: 0.5, limit: 30 });
    await stores.pool.query('DELETE FROM settlement_marks');
    time.nowMs = aheadMs;
    await becomes({ share: 0.25, limit: 60 });
  });

  it('is that of the budget once the window of a fuller limit is over, also without new usage', async () => {
    const { tenant, time, becomes } = await open();
    await tenant.budget(null, '40');
    await tenant.limit('10', time.nowMs, 'day');
    const ends = { day: time.nowMs + DAY_MS, period: Date.UTC(2026, 5, 15, 9, 13, 7) };
    await tenant.use({ value: '9', occurredAtMs: time.nowMs });
    await becomes({ share: 0.9, current: 9, limit: 10, budget: null, periodEnd: ends.day });
    time.nowMs = ends.day;
    await becomes({ share: 0.225, current: 9, limit: null, budget: 40, periodEnd: ends.period });
    await tenant.use({ value: '1', occurredAtMs: time.nowMs });
    await becomes({ share: 0.25, current: 10, limit: null, budget: 40 });
    await tenant.use({ value: '7', occurredAtMs: time.nowMs });
    await becomes({ share: 0.8, current: 8, limit: 10, budget: null });
    time.nowMs = ends.period;
    await becomes(undefined);
  });

  it('is that of the usage ahead of a window, where the budget was fuller', async () => {
    const { tenant, time, becomes } = await open();
    await tenant.budget(null, '10');
    await tenant.limit('10', time.nowMs, 'day');
    const endMs = time.nowMs + DAY_MS;
    await tenant.use({ value: '6', occurredAtMs: time.nowMs });
    await tenant.use({ value: '3', occurredAtMs: endMs + 1 });
    await becomes({ share: 0.9, current: 9, limit: null, budget: 10 });
    await tenant.use({ value: '-6', occurredAtMs: time.nowMs });
    await becomes({ share: 0.3, current: 3, budget: 10 });
    time.nowMs = endMs;
    await becomes({ share: 0.3, current: 3 });
  });

  it('of a limit that never resets goes on in the next period, without new usage', async () => {
    const { tenant, time, becomes } = await open();
    await tenant.limit('10', time.nowMs, 'never');
    await tenant.use({ value: '8', occurredAtMs: time.nowMs });
    const periodStart = time.nowMs;
    const ends = [5, 6].map((month) => Date.UTC(2026, month, 15, 9, 13, 7));
    for (const [at, periodEnd] of ends.entries()) {
      time.nowMs = ends[at - 1] ?? time.nowMs;
      await becomes({ share: 0.8, current: 8, periodStart, periodEnd });
    }
    time.nowMs = (ends[1] ?? 0) - 1;
    await tenant.limit(undefined, time.nowMs);
    await becomes(undefined);
  });

  it('follows what an audit repairs', async () => {
    const { stores, tenant, time, becomes } = await open();
    await tenant.limit('30', time.nowMs - DAY_MS);
    await tenant.use({ value: '10', occurredAtMs: time.nowMs });
    await becomes({ share: 0.333333 });
    await stores.rows('INSERT INTO metergate.usage_hourly SELECT * FROM metergate.usage_hourly');
    await tenant.use({ value: '5', occurredAtMs: time.nowMs });
    await becomes({ share: 0.833333, current: 25 });
    expect(await audit(stores, { repair: true })).toMatchObject({ code: AUDIT_EXIT.same });
    await becomes({ share: 0.5, current: 15 });
  });

  it('is that of an oracle after any changes, in any order', { timeout: 120_000 }, async () => {
    const { stores, tenant, time, becomes, mark } = await open();
    const { below, pick } = createRandom(5);
    const sinceMs = time.nowMs - DAY_MS;
    await tenant.limit('100', sinceMs);
    const state: History = { sinceMs, limit: 100, resets: 'billing_period', budget: null, used: [] };
    for (let round = 0; round < 32; round += 1) {
      const kind = pick(['use', 'use', 'use', 'limit', 'budget', 'time', 'time'] as const);
      if (kind === 'use') {
        const [value, atMs] = [below(40) - 8, time.nowMs - below(pick([1, 1, 20]) * DAY_MS)];
        state.used.push({ value, atMs });
        await tenant.use({ value: String(value), occurredAtMs: atMs });
      } else if (kind === 'limit') {
        time.nowMs += 1_000;
        state.limit = pick([50, 80, 200, null]);
        state.resets = pick(['billing_period', 'week', 'day', 'never']);
        await tenant.limit(state.limit === null ? null : String(state.limit), time.nowMs, state.resets);
      } else if (kind === 'budget') {
        state.budget = pick([60, 300, 900, null]);
        await stores.pool.query('DELETE FROM budgets');
        if (state.budget !== null) await tenant.budget(null, String(state.budget));
        await mark(time.nowMs);
      } else time.nowMs += below(pick([2, 12])) * DAY_MS;
      const share = expectedShare(state, time.nowMs);
      await becomes(share === undefined ? undefined : { share });
    }
    expect(state.used.length).toBeGreaterThan(5);
  });
});

/** What the oracle needs: the limit and the budget of now, and all usage. */
interface History {
  sinceMs: number;
  limit: number | null;
  resets: 'billing_period' | 'week' | 'day' | 'never';
  budget: number | null;
  used: Array<{ value: number; atMs: number }>;
}

/** Undefined: nothing was used of either. */
function expectedShare({ sinceMs, limit, resets, budget, used }: History, nowMs: number): number | undefined {
  let periodMs = sinceMs;
  for (let n = 1; new Date(sinceMs).setUTCMonth(4 + n) <= nowMs; n += 1) {
    periodMs = new Date(sinceMs).setUTCMonth(4 + n);
  }
  const lengthMs = (resets === 'week' ? 7 : 1) * DAY_MS;
  const ofLattice = Math.max(periodMs, nowMs - ((nowMs - sinceMs) % lengthMs));
  const ofLimit = { billing_period: periodMs, week: ofLattice, day: ofLattice, never: sinceMs }[resets];
  const shares = [
    { allowed: limit, fromMs: ofLimit },
    { allowed: budget, fromMs: periodMs },
  ].flatMap(({ allowed, fromMs }) => {
    const within = used.filter(({ atMs }) => fromMs <= atMs);
    const current = within.reduce((sum, { value }) => sum + value, 0);
    return allowed === null || current <= 0 ? [] : [Math.floor((current * 1e6) / allowed) / 1e6];
  });
  return shares.length === 0 ? undefined : Math.max(...shares);
}
