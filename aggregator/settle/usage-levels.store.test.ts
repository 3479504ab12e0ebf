import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../infra/ports/clock.ts';
import { createRandom } from '../../tests/support/random.ts';
import { start, WAIT } from '../aggregator-under-test.ts';
import { CUSTOMER, ENVIRONMENT, METER, openTenant } from './settlement-under-test.ts';

/*
 * What the settlement keeps of limits and budgets, in real stores under a clock that the test sets.
 *
 * Breaks that it catches: only usage below an uncrossed threshold is kept; a limit that ended keeps its row;
 * the share of the smallest limit; a period that ends keeps its row; usage ahead of its period forgotten with
 * it; a limit that time changes settled by the next usage only.
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

  it('is that of an oracle after any changes, in any order', { timeout: 60_000 }, async () => {
    const { stores, tenant, time, becomes, mark } = await open();
    const { below, pick } = createRandom(5);
    await tenant.limit('100', time.nowMs - DAY_MS);
    const state = { limit: 100 as number | null, budget: null as number | null };
    const used: Array<{ value: number; atMs: number }> = [];
    // A month from the day before, as the tenant's subscription has it.
    const months = [4, 5, 6, 7].map((month) => new Date(BEGINS_MS - DAY_MS).setUTCMonth(month));
    for (let round = 0; round < 18; round += 1) {
      const kind = pick(['use', 'use', 'limit', 'budget', 'time'] as const);
      if (kind === 'use') {
        const [value, atMs] = [below(40) - 8, time.nowMs - below(20 * DAY_MS)];
        used.push({ value, atMs });
        await tenant.use({ value: String(value), occurredAtMs: atMs });
      } else if (kind === 'limit') {
        time.nowMs += 1_000;
        state.limit = pick([50, 80, 200, null]);
        await tenant.limit(state.limit === null ? null : String(state.limit), time.nowMs);
      } else if (kind === 'budget') {
        state.budget = pick([20, 60, null]);
        await stores.pool.query('DELETE FROM budgets');
        if (state.budget !== null) await tenant.budget(null, String(state.budget));
        await mark(time.nowMs);
      } else time.nowMs += below(12) * DAY_MS;
      const periodStart = [...months].reverse().find((ms) => ms <= time.nowMs) ?? 0;
      const within = used.filter(({ atMs }) => periodStart <= atMs);
      const current = within.reduce((sum, { value }) => sum + value, 0);
      const allowances = [state.limit, state.budget].filter((one) => one !== null);
      const share = Math.max(...allowances.map((one) => Math.floor((current * 1e6) / one) / 1e6));
      if (current <= 0 || allowances.length === 0) await becomes(undefined);
      else await becomes({ share, current, limit: state.limit, budget: state.budget });
      if (time.nowMs > (months[2] ?? 0)) break;
    }
    expect(used.length).toBeGreaterThan(3);
  });
});
