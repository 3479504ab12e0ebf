import { expect, it } from 'vitest';
import { NO_CHANGES } from '../../domain/store/usage-views.ts';
import { arrivalText } from '../../schemas/stored/event-row.ts';
import { AGGREGATIONS, type Aggregation } from '../../schemas/usage-limits.ts';
import { eventLine, type TestEvent } from '../../tests/support/event-line.ts';
import { warehouseOfThisFile } from '../../tests/support/log-and-warehouse.ts';
import { readCounter } from './read-counter.ts';
import { readManyCounters } from './read-many-counters.ts';

/*
 * Many counters in one statement, compared with the statement of one (which usage/counter.store.test.ts
 * compares with an oracle). Mutants this suite catches: one customer's bounds for all; an edge's second hour
 * left out; another environment's or meter's events.
 */
const HOUR_MS = 3_600_000;
const CUSTOMERS = 20;
const nowMs = Date.now();

const customerOf = (at: number) => `cus_${String(at).padStart(26, 'b')}`;
const warehouse = await warehouseOfThisFile();
const meterOf = (aggregation: Aggregation) => (aggregation === 'latest' ? 'seats' : 'calls');
const lines = Array.from({ length: 12_000 }, (_, at) =>
  Buffer.from(eventLine(eventAt(at >> 1, at % 2 === 1))),
);
await warehouse.insertEvents({ token: 'test', lines: Buffer.concat(lines), timeoutMs: 20_000 });

/** Of a `latest` meter each has its order of arrival, as ingest gives it. */
function eventAt(at: number, isOfLatest: boolean): TestEvent {
  return {
    id: `use_${String(at).padStart(25, 'a')}${isOfLatest ? 's' : 'c'}`,
    environment: at % 17 === 0 ? 'ws_b:live' : 'ws_a:live',
    customerId: customerOf(at % CUSTOMERS),
    meterKey: at % 13 === 0 ? 'other' : meterOf(isOfLatest ? 'latest' : 'sum'),
    value: `${(at * 7919) % 1000}.${at % 10}1`,
    uniqueValue: isOfLatest ? arrivalText(at) : `=${at % 23}`,
    properties: {},
    occurredAtMs: nowMs - ((at * 104_729) % (72 * HOUR_MS)),
    createdAtMs: nowMs,
  };
}

/**
 * From spans within an hour, over two hours without a whole one, to days; on bounds of hours and off them.
 */
function ownersOf(seed: number) {
  return Array.from({ length: CUSTOMERS }, (_, at) => {
    const hour = Math.floor(nowMs / HOUR_MS) * HOUR_MS - ((at * 7 + seed * 3) % 60) * HOUR_MS;
    const fromMs = hour + ([0, 1, 1_800_000, 3_599_999][(at + seed) % 4] ?? 0);
    const lengths = [600_000, 2_700_000, HOUR_MS, 2 * HOUR_MS + 1, 50 * HOUR_MS, 30 * 24 * HOUR_MS];
    const toMs = fromMs + (lengths[(at * 5 + seed) % lengths.length] ?? HOUR_MS);
    return { customerId: customerOf(at), span: { fromMs, toMs } };
  });
}

it.each(AGGREGATIONS)('counts %s for each customer over its own span', async (aggregation) => {
  const meter = { key: meterOf(aggregation), aggregation } as Parameters<typeof readCounter>[1]['meter'];
  let counted = 0;
  for (const seed of [1, 2]) {
    const owners = ownersOf(seed);
    const question = { environment: 'ws_a:live', meterKey: meter.key, aggregation, owners };
    const together = await readManyCounters({ warehouse, view: NO_CHANGES }, question);
    for (const { customerId, span } of owners) {
      const alone = await readCounter(
        { warehouse, view: NO_CHANGES },
        { environment: 'ws_a:live', customerId, meter },
        span,
      );
      expect([customerId, together.get(customerId)]).toEqual([customerId, alone]);
      counted += alone === '0' ? 0 : 1;
    }
  }
  expect(counted).toBeGreaterThan(25);
});

it('is 0 for a customer without events', async () => {
  const span = { fromMs: nowMs - HOUR_MS, toMs: nowMs };
  const owners = [{ customerId: 'cus_unknown', span }];
  const question = { environment: 'ws_a:live', meterKey: 'calls', aggregation: 'sum' as const, owners };
  expect([...(await readManyCounters({ warehouse, view: NO_CHANGES }, question))]).toEqual([
    ['cus_unknown', '0'],
  ]);
});
