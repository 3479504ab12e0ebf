import { expect, it } from 'vitest';
import { NO_CHANGES } from '../../domain/store/usage-views.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { AGGREGATIONS } from '../../schemas/usage-limits.ts';
import { eventLine } from '../../tests/support/event-line.ts';
import { warehouseOfThisFile } from '../../tests/support/log-and-warehouse.ts';
import { createRandom } from '../../tests/support/random.ts';
import { aggregateOf } from '../../tests/support/usage-oracle.ts';
import { readByBound, readByValue, readTotals, type UsageQuestion } from './read-priced-usage.ts';

/*
 * Usage of many customers and meters, each in parts of time of its own, against sums over the events.
 *
 * Mutants this suite catches: parts of a question that are not merged to one aggregate; the second hour of an
 * edge left out; another customer's parts; events of another environment; a property that is not there taken
 * for an empty one; an event at a bound that costs it.
 */
const HOUR_MS = 3_600_000;
const nowMs = Date.UTC(2026, 10, 21, 12, 30);
const { below, chance, pick } = createRandom(5);
const CUSTOMERS = ['cus_a', 'cus_b', 'cus_c'];
const METERS = ['calls', 'bytes'];

const events = Array.from({ length: 6_000 }, (_, at) => ({
  id: `use_${String(at).padStart(26, 'a')}`,
  environment: chance(0.1) ? 'ws_b:live' : 'ws_a:live',
  customerId: pick(CUSTOMERS),
  meterKey: pick(METERS),
  value: `${chance(0.1) ? '-' : ''}${below(50)}.5`,
  uniqueValue: `=${below(40)}`,
  properties: chance(0.8) ? { region: pick(['eu', 'us', '', 'ap', '\u0000n1']) } : {},
  occurredAtMs: nowMs - below(72 * HOUR_MS),
  createdAtMs: nowMs,
}));
const warehouse = await warehouseOfThisFile();
const lines = Buffer.concat(events.map((event) => Buffer.from(eventLine(event))));
await warehouse.insertEvents({ token: 'test', lines, timeoutMs: 20_000 });
const limits = { connection: 'long', timeoutMs: 20_000 } as const;
const read = { warehouse, view: NO_CHANGES, environment: 'ws_a:live', ...limits } as const;

/** Up to three, from parts of an hour to days, some on the bounds of hours. */
function someParts(): Span[] {
  const times = Array.from({ length: 2 * (1 + below(3)) }, () => {
    const at = nowMs - below(75 * HOUR_MS);
    return chance(0.3) ? Math.floor(at / HOUR_MS) * HOUR_MS : at;
  }).sort((a, b) => a - b);
  const parts = times.flatMap((fromMs, at) => (at % 2 ? [] : [{ fromMs, toMs: times[at + 1] ?? fromMs }]));
  return parts.filter(({ fromMs, toMs }) => fromMs < toMs);
}

function someQuestions(): Array<Pick<UsageQuestion, 'customerId' | 'meterKey' | 'parts'>> {
  return Array.from({ length: 40 }, () => {
    return { customerId: pick([...CUSTOMERS, 'cus_none']), meterKey: pick(METERS), parts: someParts() };
  });
}

function eventsOf({ customerId, meterKey, parts }: ReturnType<typeof someQuestions>[number]) {
  return events.filter((event) => {
    const isOwn = event.customerId === customerId && event.meterKey === meterKey;
    const isIn = parts.some(({ fromMs, toMs }) => fromMs <= event.occurredAtMs && event.occurredAtMs < toMs);
    return isOwn && isIn && event.environment === 'ws_a:live';
  });
}

it('totals of all aggregations are those of the events in the parts', async () => {
  const questions = AGGREGATIONS.flatMap((aggregation) =>
    someQuestions().map((question) => ({ ...question, aggregation })),
  );
  const totals = await readTotals(read, questions);
  for (const [at, question] of questions.entries()) {
    const expected = aggregateOf(eventsOf(question), question.aggregation, {
      units: ({ value }) => decimalUnits(value),
      label: ({ uniqueValue }) => uniqueValue,
      isLater: (a, b) =>
        a.occurredAtMs > b.occurredAtMs || (a.occurredAtMs === b.occurredAtMs && a.id > b.id),
    });
    expect([question, totals[at]]).toEqual([question, expected]);
  }
  expect(totals.filter((total) => total !== 0n).length).toBeGreaterThan(100);
});

it('values of a property are summed where they are listed, and the others together', async () => {
  const questions = someQuestions().map((question) => ({
    ...question,
    aggregation: pick(['sum', 'count'] as const),
    property: 'region',
    values: pick([
      ['eu', '1'],
      ['us', ''],
      ['eu', 'us', 'ap'],
    ]),
  }));
  const found = await readByValue(read, questions);
  for (const [at, question] of questions.entries()) {
    const own = new Map<string | undefined, bigint>();
    for (const { properties, value } of eventsOf(question)) {
      const text = properties.region?.replace('\u0000n', '');
      const label = text !== undefined && question.values.includes(text) ? text : undefined;
      const units = question.aggregation === 'sum' ? decimalUnits(value) : 10n ** 12n;
      own.set(label, (own.get(label) ?? 0n) + units);
    }
    expect(new Map(found[at]?.map(({ value, units }) => [value, units]))).toEqual(own);
  }
});

it('events are distinguished by the bound that holds for them', async () => {
  const questions = someQuestions().map((question) => {
    const [from = '0', to = '0'] = pick([
      ['0', '20.5'],
      ['10.5', '30'],
      ['0', '-1'],
      ['99', '1000'],
    ]);
    return { ...question, aggregation: 'sum' as const, from, to };
  });
  const found = await readByBound(read, questions);
  for (const [at, question] of questions.entries()) {
    const values = eventsOf(question).map(({ value }) => decimalUnits(value));
    const [from, to] = [question.from, question.to].map(decimalUnits) as [bigint, bigint];
    const sum = (list: bigint[]) => list.reduce((total, one) => total + one, 0n);
    const kept = values.filter((value) => value >= 0n);
    const free = kept.filter((value) => from <= value && value <= to);
    expect(found[at]).toEqual({
      total: sum(values),
      units: sum(free),
      events: BigInt(free.length),
      atMin: BigInt(kept.filter((value) => value <= to && value < from).length),
      atMax: BigInt(kept.filter((value) => value > to).length),
      corrected: sum(values.filter((value) => value < 0n)),
    });
  }
});

it('nothing is read where nothing is asked', async () => {
  expect(await readTotals(read, [])).toEqual([]);
});
