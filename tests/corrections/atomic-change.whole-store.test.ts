import { expect, it } from 'vitest';
import { createPropertyRollup } from '../../control-plane/store/property-rollup.ts';
import { readCountersInOrder } from '../../control-plane/store/read-counter.ts';
import { readMeterUsage } from '../../control-plane/store/read-meter-usage.ts';
import { createUsageViews } from '../../control-plane/usage/usage-views.ts';
import { closeUsageChange, insertUsageChange, showUsageChange } from '../../domain/store/usage-changes.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { AGGREGATIONS } from '../../schemas/usage-limits.ts';
import { eventLines, type TestEvent } from '../support/event-line.ts';
import { warehouseOfThisFile } from '../support/log-and-warehouse.ts';
import { poolOfThisFile } from '../support/test-pool.ts';

const ENVIRONMENT = 'ws_a:live';
const HOUR_MS = 3_600_000;
const FIRST_MS = Date.UTC(2026, 10, 1);
const [WRONG, RIGHT, IN_A_BLOCK] = [10_000, 100_000, 20_000];
const SPAN = { fromMs: FIRST_MS + 1, toMs: FIRST_MS + 200 * HOUR_MS - 1 };
const AT = new Date('2026-11-27T12:00:00.000Z');

const pool = await poolOfThisFile();
await pool.query("INSERT INTO workspaces (id, name) VALUES ('ws_a', 'A')");
await pool.query("INSERT INTO environments (id, workspace_id, mode) VALUES ('ws_a:live', 'ws_a', 'live')");
const warehouse = await warehouseOfThisFile();

/** Of one customer over 200 hours; a value and a label of their own for each kind. */
function events(kind: 'wrong' | 'right', from: number, to: number): TestEvent[] {
  return Array.from({ length: to - from }, (_, index) => {
    const at = from + index;
    return {
      ...{ id: `use_${kind}${String(at).padStart(21, 'a')}`, value: kind === 'wrong' ? '100' : '1' },
      ...{ uniqueValue: `=${kind} ${at % 50}`, properties: { region: kind } },
      ...{ occurredAtMs: FIRST_MS + ((at * 7_919) % (200 * HOUR_MS)), createdAtMs: FIRST_MS + at },
    };
  });
}

/**
 * A backfill of 100,000 events replaces 10,000: while its rows are stored, and around the time at which it
 * becomes visible, a reader in a loop sees the usage before it or after it, whatever it reads.
 */
it('a reader never sees a part of a change', { timeout: 600_000 }, async () => {
  const views = createUsageViews({ pool, clock: systemClock });
  const insert = (token: string, some: TestEvent[], change?: { number: number; voids: boolean }) => {
    const block = { token, lines: eventLines(some), timeoutMs: 120_000 };
    return warehouse.insertEvents(change ? { ...block, change } : block);
  };
  await insert('wrong', events('wrong', 0, WRONG));

  async function read(): Promise<string> {
    const view = await views.of(ENVIRONMENT);
    const questions = AGGREGATIONS.filter((one) => one !== 'latest').map((aggregation) => {
      return { meterKey: 'calls', aggregation, span: SPAN };
    });
    const owner = { environment: ENVIRONMENT, customerId: 'cus_a' };
    const counters = await readCountersInOrder({ warehouse, view }, owner, questions);
    const deps = { warehouse, view, rollup: createPropertyRollup(warehouse) };
    const { groups } = await readMeterUsage(deps, {
      ...{ environment: ENVIRONMENT, meterKey: 'calls', aggregation: 'sum', span: SPAN, limit: 10 },
      ...{ starts: [SPAN.fromMs], groupBy: ['region'], customerId: undefined, filter: [], quantiles: [] },
    });
    return JSON.stringify([counters, groups]);
  }

  const seen: string[] = [];
  let isOver = false;
  const reader = (async () => {
    while (!isOver) seen.push(await read());
  })();
  const before = await read();
  const number = await inTransaction(pool, (db) => {
    const more = { request: {}, createdBy: 'key_a', createdAt: AT };
    const change = { environment: ENVIRONMENT, id: 'bkf_a', kind: 'backfill', hasVoids: true } as const;
    return insertUsageChange(db, { ...change, ...more });
  });
  await insert('voided', events('wrong', 0, WRONG), { number, voids: true });
  for (let from = 0; from < RIGHT; from += IN_A_BLOCK) {
    await insert(`right ${from}`, events('right', from, from + IN_A_BLOCK), { number, voids: false });
    views.invalidate(ENVIRONMENT);
  }
  expect(await read()).toBe(before);
  await closeUsageChange(pool, number, { endsAt: [], at: AT });
  await showUsageChange(pool, number, AT);
  views.invalidate(ENVIRONMENT);
  const after = await read();
  expect(JSON.parse(after)[0]).toEqual([String(RIGHT - 1), String(RIGHT - 1), '1', '50']);
  await expect.poll(() => seen.at(-1), { timeout: 60_000 }).toBe(after);
  isOver = true;
  await reader;
  expect([...new Set(seen)]).toEqual([before, after]);
  expect(seen.length).toBeGreaterThan(5);
});
