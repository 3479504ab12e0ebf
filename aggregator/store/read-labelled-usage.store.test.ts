import { expect, it, vi } from 'vitest';
import { labelOfValue, UNRATED } from '../../domain/rules/credit-cost.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { HOUR_MS, type Span } from '../../schemas/primitives/calendar.ts';
import { eventLines } from '../../tests/support/event-line.ts';
import { warehouseOfThisFile } from '../../tests/support/log-and-warehouse.ts';
import { prunedBeforeFinal } from '../../tests/support/pruned-before-final.ts';
import { type LabelQuestion, readLabelledUsage } from './read-labelled-usage.ts';

const NO_VIEWS = new Map<string, never>();

/*
 * Mutants that turn it red: an hour's sum assigned to the hour before; a span that is not a whole hour read
 * from its last hour alone; an event at a bound counted on both sides.
 */
const REGIONS = ['eu', 'us', 'ap', undefined];
const CUSTOMERS = ['cus_a', 'cus_b', 'cus_c'];
const FIRST_MS = Date.UTC(2026, 9, 25, 3);
const HOURS = 400;

const used = CUSTOMERS.flatMap((customerId, customer) =>
  Array.from({ length: 2_000 }, (_, at) => ({
    customerId,
    region: REGIONS[(at + customer) % 4],
    value: at + 1,
    // At bounds of hours too.
    occurredAtMs: FIRST_MS + ((at * 977) % (HOURS * 6)) * (HOUR_MS / 6),
  })),
);

const warehouse = await warehouseOfThisFile();
const lines = eventLines(
  used.map(({ region, value, ...one }, at) => ({
    ...{ ...one, id: `use_${at}`, value: String(value) },
    ...(region ? { properties: { region } } : {}),
  })),
);
await warehouse.insertEvents({ token: 'all', lines, timeoutMs: 30_000 });

it.each(['sum', 'count'] as const)('is exact by the label for a %s, hour by hour', async (aggregation) => {
  const cutMs = FIRST_MS + 200 * HOUR_MS + 1_200_000;
  const spans: Span[] = [
    ...Array.from({ length: 200 }, (_, hour) => hourAt(hour)),
    { fromMs: FIRST_MS + 200 * HOUR_MS, toMs: cutMs },
    { fromMs: cutMs, toMs: FIRST_MS + 300 * HOUR_MS },
    ...Array.from({ length: 50 }, (_, hour) => hourAt(300 + 2 * hour)),
  ];
  const property = { name: 'region', rates: { eu: '2', us: '3' } };
  const questions = CUSTOMERS.flatMap((customerId) =>
    spans.map((span): LabelQuestion => {
      const customerMeter = { environment: 'ws_a:live', customerId, meterKey: 'calls' };
      return { ...customerMeter, aggregation, property, span };
    }),
  );
  const query = vi.fn(warehouse.query);
  const responses = await readLabelledUsage(
    { warehouse: { query: query as Warehouse['query'] }, views: NO_VIEWS },
    questions,
  );
  expect(responses.map((response) => new Map(response.map(({ label, units }) => [label, units])))).toEqual(
    questions.map(expected),
  );
  expect(query).toHaveBeenCalledTimes(1);
});

it('counts an event once that stands twice, once in a part before the span', async () => {
  const fromMs = FIRST_MS + 500 * HOUR_MS + 1_200_000;
  const event = { id: 'use_twice', customerId: 'cus_twice', value: '3', properties: { region: 'eu' } };
  for (const [at, occurredAtMs] of [fromMs - 60_000, fromMs + 60_000].entries()) {
    const twice = eventLines([{ ...event, occurredAtMs, createdAtMs: FIRST_MS + at }]);
    await warehouse.insertEvents({ token: `twice ${at}`, lines: twice, timeoutMs: 30_000 });
  }
  const customerMeter = { environment: 'ws_a:live', customerId: event.customerId, meterKey: 'calls' };
  const span = { fromMs, toMs: fromMs + HOUR_MS };
  const property = { name: 'region', rates: { eu: '2' } };
  const question = { ...customerMeter, aggregation: 'sum' as const, property, span };
  expect(
    await readLabelledUsage({ warehouse: prunedBeforeFinal(warehouse), views: NO_VIEWS }, [question]),
  ).toEqual([[]]);
});

function hourAt(hour: number): Span {
  return { fromMs: FIRST_MS + hour * HOUR_MS, toMs: FIRST_MS + (hour + 1) * HOUR_MS };
}

function expected({ customerId, span, aggregation }: LabelQuestion): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const one of used) {
    if (one.customerId !== customerId || one.occurredAtMs < span.fromMs || one.occurredAtMs >= span.toMs) {
      continue;
    }
    const label = one.region === 'eu' || one.region === 'us' ? labelOfValue(one.region) : UNRATED;
    const amount = aggregation === 'count' ? 1n : BigInt(one.value);
    sums.set(label, (sums.get(label) ?? 0n) + amount * 10n ** 12n);
  }
  return sums;
}
