import { expect, it } from 'vitest';
import { calendarSpan, HOUR_MS, type Span } from '../../schemas/primitives/calendar.ts';
import { AGGREGATIONS } from '../../schemas/usage-limits.ts';
import { eventLines, type TestEvent } from '../../tests/support/event-line.ts';
import { warehouseOfThisFile } from '../../tests/support/log-and-warehouse.ts';
import { createRandom, type Random } from '../../tests/support/random.ts';
import { aggregateOf } from '../../tests/support/usage-oracle.ts';
import { readUsage, type UsageQuestion } from './read-usage.ts';

const NO_VIEWS = new Map<string, never>();

/*
 * Sums of many customer meters at once, against a walk over their events.
 *
 * Mutants that turn it red: an edge left out, also one that extends into the next hour; bounds of one
 * question taken for another; rows of another customer, meter or environment.
 */
const ENVIRONMENTS = ['ws_a:live', 'ws_a:test'];
const CUSTOMERS = Array.from({ length: 12 }, (_, number) => `cus_${number}`);
const FIRST_MS = Date.UTC(2026, 9, 30, 22);
const LENGTH_MS = 70 * HOUR_MS;

const stored: Array<Required<Pick<TestEvent, 'environment' | 'customerId' | 'meterKey'>> & Stored> = [];

interface Stored {
  value: number;
  occurredAtMs: number;
  createdAtMs: number;
}

const warehouse = await warehouseOfThisFile();
const seeded = createRandom(7);
const { below, pick } = seeded;
for (let at = 0; at < 6_000; at++) {
  stored.push({
    environment: ENVIRONMENTS[at % 2] ?? '',
    customerId: pick(CUSTOMERS),
    meterKey: pick(AGGREGATIONS),
    value: below(50) - 10,
    occurredAtMs: timeIn(seeded),
    createdAtMs: at,
  });
}
const lines = eventLines(stored.map((one, at) => ({ ...one, ...asStored(one), id: `use_${at}` })));
await warehouse.insertEvents({ token: 'all', lines, timeoutMs: 30_000 });

it('is exact for spans of every kind, requested at once', async () => {
  const random = createRandom(11);
  const month = calendarSpan('month', Date.UTC(2026, 9, 31));
  const questions = AGGREGATIONS.flatMap((aggregation) =>
    CUSTOMERS.flatMap((customerId, at): UsageQuestion[] => {
      const [a, b] = [timeIn(random), timeIn(random)].sort((one, other) => one - other) as [number, number];
      const customerMeter = {
        environment: ENVIRONMENTS[at % 2] ?? '',
        customerId,
        meterKey: aggregation,
        aggregation,
      };
      const short = { fromMs: a, toMs: a + HOUR_MS / 3 };
      const spans = [month, { fromMs: a, toMs: b + 1 }, short, { fromMs: FIRST_MS, toMs: b + 1 }];
      return spans.map((span) => ({ ...customerMeter, span }));
    }),
  );
  const responses = await readUsage({ warehouse, views: NO_VIEWS }, questions);
  expect(responses).toEqual(questions.map(expectedOf));
  expect(await readUsage({ warehouse, views: NO_VIEWS }, [])).toEqual([]);
});

const ONE = 10n ** 12n;

function expectedOf({ environment, customerId, meterKey, aggregation, span }: UsageQuestion): bigint {
  const own = stored.filter(
    (one) =>
      one.environment === environment &&
      one.customerId === customerId &&
      one.meterKey === meterKey &&
      span.fromMs <= one.occurredAtMs &&
      one.occurredAtMs < span.toMs,
  );
  return aggregateOf(own, aggregation, {
    units: ({ value }) => BigInt(value) * ONE,
    label: ({ value }) => value,
    isLater: (a, b) =>
      a.occurredAtMs - b.occurredAtMs > 0 ||
      (a.occurredAtMs === b.occurredAtMs && a.createdAtMs > b.createdAtMs),
  });
}

function asStored({ value, ...rest }: Stored) {
  return { ...rest, value: String(value), uniqueValue: `=${value}` };
}

/** Often on the very bound of an hour. */
function timeIn({ below, chance }: Random): number {
  const at = FIRST_MS + below(LENGTH_MS);
  const bound: Span['fromMs'] = Math.floor(at / HOUR_MS) * HOUR_MS;
  return chance(0.3) ? bound - (chance(0.5) ? 1 : 0) : at;
}
