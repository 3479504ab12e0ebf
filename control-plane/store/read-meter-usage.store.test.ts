import { expect, it, onTestFinished, vi } from 'vitest';
import { NO_CHANGES } from '../../domain/store/usage-views.ts';
import { eventLine } from '../../tests/support/event-line.ts';
import { warehouseOfThisFile } from '../../tests/support/log-and-warehouse.ts';
import { prunedBeforeFinal } from '../../tests/support/pruned-before-final.ts';
import { createPropertyRollup } from './property-rollup.ts';
import { readBreakdown } from './read-breakdown.ts';
import { readCounter, readCountersInOrder } from './read-counter.ts';
import { readManyCounters } from './read-many-counters.ts';
import { readMeterUsage } from './read-meter-usage.ts';
import { readByBound, readByValue, readTotals } from './read-priced-usage.ts';
import { readUsageEvents } from './read-usage-events.ts';

/*
 * Edge hours, in which an event may stand twice: sent again after its first block was merged away, or by two
 * processes. The earliest counts.
 *
 * Red when a repeat counts, when the later one does, and when the earlier one is looked for only within the
 * span.
 */
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const fromMs = Date.UTC(2026, 10, 1, 0, 30);
const toMs = fromMs + 40 * HOUR_MS;
/** A block inserts only one of two. */
const BLOCKS = [
  [
    { id: 'a', value: '1', occurredAtMs: fromMs + MINUTE_MS, createdAtMs: 2 },
    { id: 'b', value: '200', occurredAtMs: toMs - MINUTE_MS, createdAtMs: 5 },
    { id: 'c', value: '300', occurredAtMs: fromMs + MINUTE_MS, createdAtMs: 7 },
    { id: 'd', value: '4', occurredAtMs: fromMs + 20 * HOUR_MS, createdAtMs: 8 },
    { id: 'f', value: '300', occurredAtMs: fromMs + MINUTE_MS, createdAtMs: 7, customerId: 'cus_c' },
    { id: 'g', value: '5', occurredAtMs: fromMs + MINUTE_MS, createdAtMs: 7, customerId: 'cus_d' },
    { id: 'h', value: '300', occurredAtMs: fromMs + MINUTE_MS, createdAtMs: 7, customerId: 'cus_e' },
    { id: 'i', value: '1', occurredAtMs: fromMs + MINUTE_MS, createdAtMs: 7, meterKey: 'jobs' },
    { id: 'j', value: '1', occurredAtMs: fromMs + MINUTE_MS, createdAtMs: 7, meterKey: 'jobs' },
  ],
  [
    { id: 'a', value: '100', occurredAtMs: fromMs + MINUTE_MS, createdAtMs: 3 },
    { id: 'b', value: '2', occurredAtMs: toMs - MINUTE_MS, createdAtMs: 4 },
    // The one that counts is before the span.
    { id: 'c', value: '400', occurredAtMs: fromMs - MINUTE_MS, createdAtMs: 6 },
    { id: 'f', value: '400', occurredAtMs: fromMs - MINUTE_MS, createdAtMs: 6, customerId: 'cus_c' },
    // Behind the span, in its last hour.
    { id: 'e', value: '500', occurredAtMs: toMs + MINUTE_MS, createdAtMs: 9 },
  ],
  // In a part without any event of the span.
  [{ id: 'h', value: '400', occurredAtMs: fromMs - MINUTE_MS, createdAtMs: 6, customerId: 'cus_e' }],
  [{ id: 'j', value: '1', occurredAtMs: fromMs + MINUTE_MS, createdAtMs: 8, meterKey: 'jobs' }],
];

const warehouse = prunedBeforeFinal(await warehouseOfThisFile());
for (const [at, events] of BLOCKS.entries()) {
  const lines = events.map((event) => {
    const id = `use_${event.id.padStart(26, 'a')}`;
    return eventLine({ environment: 'ws_a:live', customerId: 'cus_a', meterKey: 'calls', ...event, id });
  });
  const block = { token: `block ${at}`, lines: Buffer.from(lines.join('')), timeoutMs: 20_000 };
  await warehouse.insertEvents(block);
}

/** Few edge hours are sorted, many merged. */
it.each(['few', 'many'])('an event counts once in an edge hour, of %s', async (edges) => {
  const every = edges === 'few' ? 40 * HOUR_MS : HOUR_MS;
  const starts = Array.from({ length: (toMs - fromMs) / every }, (_, at) => fromMs + at * every);
  const { all } = await readMeterUsage(
    { warehouse, view: NO_CHANGES, rollup: createPropertyRollup(warehouse) },
    {
      ...{ environment: 'ws_a:live', meterKey: 'calls', aggregation: 'sum', span: { fromMs, toMs }, starts },
      ...{ groupBy: [], customerId: undefined, filter: [], quantiles: [], limit: 1 },
    },
  );
  expect(all).toMatchObject({ total: '12', count: 4 });
});

it.each([
  ['two that stand twice', 'cus_a', '7', 2],
  ['one that stands twice, once before the span', 'cus_c', '0', 2],
  ['one that stands twice, once in a part before the span', 'cus_e', '0', 2],
  ['none that stands twice', 'cus_d', '5', 1],
])('an event counts once in an edge hour of a counter, of %s', async (_, customerId, current, statements) => {
  const [environment, span] = ['ws_a:live', { fromMs, toMs }];
  const meter = { key: 'calls', aggregation: 'sum' } as Parameters<typeof readCounter>[1]['meter'];
  const query = vi.spyOn(warehouse, 'query');
  onTestFinished(() => query.mockRestore());
  expect(await readCounter({ warehouse, view: NO_CHANGES }, { environment, customerId, meter }, span)).toBe(
    current,
  );
  expect(query).toHaveBeenCalledTimes(statements);
  const owners = [{ customerId, span }];
  const question = { environment, meterKey: meter.key, aggregation: meter.aggregation, owners };
  expect([...(await readManyCounters({ warehouse, view: NO_CHANGES }, question)).values()]).toEqual([
    current,
  ]);
});

it('an event is not shown that stands twice, once in a part before the span', async () => {
  const meter = { key: 'calls', aggregation: 'sum' } as Parameters<typeof readCounter>[1]['meter'];
  const customerMeter = { environment: 'ws_a:live', customerId: 'cus_e', meter };
  const question = { customerMeter, span: { fromMs, toMs }, limit: 10 };
  expect(await readUsageEvents({ warehouse, view: NO_CHANGES }, { ...question, after: undefined })).toEqual(
    [],
  );
  const groups = { dimension: 'region', filter: [], quantiles: [1], order: 'total' as const, versions: [] };
  const deps = { warehouse, view: NO_CHANGES, rollup: createPropertyRollup(warehouse) };
  const { all } = await readBreakdown(deps, { ...question, ...groups, offsets: undefined });
  expect(all).toMatchObject({ total: '0', count: 0 });
});

it('an event is not priced that stands twice, once in a part before the span', async () => {
  const limits = { connection: 'long', timeoutMs: 20_000 } as const;
  const read = { warehouse, view: NO_CHANGES, environment: 'ws_a:live', ...limits } as const;
  const parts = [{ fromMs, toMs }];
  const question = { customerId: 'cus_e', meterKey: 'calls', aggregation: 'sum' as const, parts };
  expect(await readTotals(read, [question])).toEqual([0n]);
  expect(await readByValue(read, [{ ...question, property: 'region', values: ['eu'] }])).toEqual([[]]);
  const [bounded] = await readByBound(read, [{ ...question, from: '0', to: '1000' }]);
  expect(bounded).toMatchObject({ total: 0n, events: 0n });
});

/** The three rows in the edge hour are two events. */
it('a counter with more rows than are compared is merged, of its span, and then at once', async () => {
  const query = vi.spyOn(warehouse, 'query');
  onTestFinished(() => query.mockRestore());
  const owner = { environment: 'ws_a:live', customerId: 'cus_a' };
  const question = { meterKey: 'jobs', aggregation: 'sum' as const };
  const spans = [
    { fromMs: fromMs + 10 * HOUR_MS, toMs },
    { fromMs, toMs: toMs - HOUR_MS },
  ];
  const questions = spans.map((span) => ({ ...question, span }));
  const usage = { warehouse, view: NO_CHANGES };
  const read = (comparedMax: number) => readCountersInOrder(usage, owner, questions, { comparedMax });
  expect(await read(2)).toEqual(['0', '2']);
  const asked = query.mock.calls.map(([{ params = {} }]) => ['from0' in params, 'from1' in params]);
  expect(asked).toEqual([
    [true, true],
    [false, true],
  ]);
  expect(await read(2)).toEqual(['0', '2']);
  expect(query).toHaveBeenCalledTimes(3);
});
