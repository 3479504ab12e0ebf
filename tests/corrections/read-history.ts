import { readLabelledUsage } from '../../aggregator/store/read-labelled-usage.ts';
import { readUsage } from '../../aggregator/store/read-usage.ts';
import { createPropertyRollup } from '../../control-plane/store/property-rollup.ts';
import { readBreakdown } from '../../control-plane/store/read-breakdown.ts';
import { readCountersInOrder } from '../../control-plane/store/read-counter.ts';
import { readManyCounters } from '../../control-plane/store/read-many-counters.ts';
import { readMeterUsage } from '../../control-plane/store/read-meter-usage.ts';
import { readByBound, readByValue, readTotals } from '../../control-plane/store/read-priced-usage.ts';
import { findUsageEvents, readUsageEvents } from '../../control-plane/store/read-usage-events.ts';
import type { CustomerMeter } from '../../control-plane/usage/customer-meter.ts';
import { labelOfValue, UNRATED } from '../../domain/rules/credit-cost.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { AGGREGATIONS, type Aggregation } from '../../schemas/usage-limits.ts';
import type { Random } from '../support/random.ts';
import { aggregateOf, groupedBy, unitsOf } from '../support/usage-oracle.ts';
import {
  CUSTOMERS,
  FIRST_MS,
  HOUR_MS,
  LENGTH_MS,
  type Moment,
  REGIONS,
  timeIn,
  type UsedEvent,
} from './changed-history.ts';

/** A read of one environment, and what it gives of events that were never changed. */
export interface HistoryRead {
  name: string;
  read(): Promise<unknown>;
  expected: unknown;
}

interface Reading extends Moment {
  warehouse: Warehouse;
  environment: string;
  random: Random;
}

/** One of each kind, with spans and dimensions by chance. */
export function readsOf(reading: Reading): HistoryRead[] {
  return [counters, manyCounters, breakdown, meterUsage, eventList, found, priced, settled, labelled].map(
    (make) => make(reading),
  );
}

const ALL: Span = { fromMs: FIRST_MS, toMs: FIRST_MS + LENGTH_MS + 20 * HOUR_MS };

function spanIn(random: Random): Span {
  const [a = 0, b = 0] = [timeIn(random), timeIn(random)].sort((one, other) => one - other);
  const wholeHours = { fromMs: Math.floor(a / HOUR_MS) * HOUR_MS, toMs: Math.ceil(b / HOUR_MS) * HOUR_MS };
  return random.pick([{ fromMs: a, toMs: b + 1 }, wholeHours, ALL, { fromMs: a, toMs: a + HOUR_MS / 3 }]);
}

interface Of extends Partial<Span> {
  customerId?: string;
  meterKey?: Aggregation;
  region?: string | undefined;
}

function ofThese(events: readonly UsedEvent[], of: Of): UsedEvent[] {
  return events.filter(
    (one) =>
      (of.customerId === undefined || of.customerId === one.customerId) &&
      (of.meterKey === undefined || of.meterKey === one.meterKey) &&
      (of.region === undefined || of.region === one.region) &&
      one.occurredAtMs >= (of.fromMs ?? 0) &&
      one.occurredAtMs < (of.toMs ?? Number.POSITIVE_INFINITY),
  );
}

function amount(events: UsedEvent[], aggregation: Aggregation): bigint {
  return aggregateOf(events, aggregation, {
    units: ({ units }) => units,
    label: ({ region }) => region,
    isLater: (a, b) => Buffer.compare(orderOf(a), orderOf(b)) > 0,
  });
}

/** Numbers of one length: all times have as many digits. */
function orderOf({ occurredAtMs, createdAtMs, arrival, id }: UsedEvent): Buffer {
  return Buffer.from([occurredAtMs, createdAtMs, String(arrival).padStart(6, '0'), id].join(' '));
}

function counters({ warehouse, view, standing, environment, random }: Reading): HistoryRead {
  const [customerId, span, other] = [random.pick(CUSTOMERS), spanIn(random), spanIn(random)];
  const questions = AGGREGATIONS.flatMap((aggregation) =>
    [random.chance(0.5) ? span : ALL, other].map((one) => ({
      meterKey: aggregation,
      aggregation,
      span: one,
    })),
  );
  return {
    name: 'counters of a customer',
    read: async () => {
      const owner = { environment, customerId };
      return (await readCountersInOrder({ warehouse, view }, owner, questions)).map((text) => unitsOf(text));
    },
    expected: questions.map(({ meterKey, aggregation, span }) =>
      amount(ofThese(standing, { customerId, meterKey, ...span }), aggregation),
    ),
  };
}

function manyCounters({ warehouse, view, standing, environment, random }: Reading): HistoryRead {
  const aggregation = random.pick(AGGREGATIONS);
  const owners = CUSTOMERS.map((customerId) => ({ customerId, span: spanIn(random) }));
  return {
    name: `counters of customers, ${aggregation}`,
    read: async () => {
      const question = { environment, meterKey: aggregation, aggregation, owners };
      const counted = await readManyCounters({ warehouse, view }, question);
      return [...counted].map(([customerId, text]) => [customerId, unitsOf(text)]);
    },
    expected: owners.map(({ customerId, span }) => {
      const own = ofThese(standing, { customerId, meterKey: aggregation, ...span });
      return [customerId, amount(own, aggregation)];
    }),
  };
}

const DIMENSIONS: Record<string, (event: UsedEvent) => string> = {
  region: ({ region }) => region ?? '',
  $hour: ({ occurredAtMs }) => `${new Date(occurredAtMs).toISOString().slice(0, 13)}:00:00.000Z`,
  $day: ({ occurredAtMs }) => new Date(occurredAtMs).toISOString().slice(0, 10),
};

interface Group {
  label: string;
  total: bigint;
  count: number;
}

function breakdown({ warehouse, view, standing, environment, random }: Reading): HistoryRead {
  const [aggregation, customerId] = [random.pick(AGGREGATIONS), random.pick(CUSTOMERS)];
  const dimension = random.pick(Object.keys(DIMENSIONS));
  const span = random.chance(0.2) ? undefined : spanIn(random);
  const region = dimension !== 'region' && random.chance(0.3) ? random.pick(REGIONS) : undefined;
  const order = dimension !== 'region' && random.chance(0.5) ? 'time' : 'total';
  const own = ofThese(standing, { customerId, meterKey: aggregation, region, ...span });
  const groups = [...groupedBy(own, DIMENSIONS[dimension] as (event: UsedEvent) => string)].map(
    ([label, same]): Group => ({ label, total: amount(same, aggregation), count: same.length }),
  );
  const byLabel = (a: Group, b: Group) => (a.label < b.label ? -1 : 1);
  groups.sort((a, b) =>
    order === 'time' || a.total === b.total ? byLabel(a, b) : a.total > b.total ? -1 : 1,
  );
  return {
    name: `breakdown of ${aggregation} by ${dimension}, ${order}, ${region}`,
    read: async () => {
      const meter = { key: aggregation, aggregation } as CustomerMeter['meter'];
      const deps = { warehouse, view, rollup: createPropertyRollup(warehouse) };
      const found = await readBreakdown(deps, {
        ...{ customerMeter: { environment, customerId, meter }, dimension, span, order, offsets: undefined },
        ...{
          filter: region === undefined ? [] : [['region', region]],
          quantiles: [],
          versions: [],
          limit: 200,
        },
      });
      const groupOf = ({ label, total, count }: typeof found.all) => ({
        label,
        total: unitsOf(total),
        count,
      });
      const { total, count } = groupOf(found.all);
      return { total, count, groups: found.groups.map(groupOf) };
    },
    expected: { total: amount(own, aggregation), count: own.length, groups },
  };
}

function meterUsage({ warehouse, view, standing, environment, random }: Reading): HistoryRead {
  const aggregation = random.pick(AGGREGATIONS);
  const span = spanIn(random);
  const days = [1, 2, 3].map((day) => FIRST_MS + 2 * HOUR_MS + (day - 1) * 24 * HOUR_MS);
  const starts = [span.fromMs, ...days.filter((ms) => ms > span.fromMs && ms < span.toMs)];
  const groupBy = random.pick([[], ['customerId'], ['region'], ['customerId', 'region']]);
  const region = groupBy.includes('region') || random.chance(0.7) ? undefined : random.pick(REGIONS);
  const labelsOf = (one: UsedEvent) =>
    groupBy.map((name) => (name === 'region' ? (one.region ?? '') : one.customerId));
  const own = ofThese(standing, { meterKey: aggregation, region, ...span });
  const bucketOf = ({ occurredAtMs }: UsedEvent) => starts.findLast((ms) => ms <= occurredAtMs) as number;
  const amountOf = (some: UsedEvent[]) => ({ total: amount(some, aggregation), count: some.length });
  const groups = [...groupedBy(own, (one) => JSON.stringify(labelsOf(one)))].map(([labels, same]) => ({
    labels: JSON.parse(labels) as string[],
    points: [...groupedBy(same, (one) => String(bucketOf(one)))]
      .map(([startMs, some]) => ({ startMs: Number(startMs), ...amountOf(some) }))
      .sort((a, b) => a.startMs - b.startMs),
  }));
  const byLabels = (a: { labels: string[] }, b: typeof a) => (String(a.labels) < String(b.labels) ? -1 : 1);
  return {
    name: `usage of the meter ${aggregation} by ${groupBy}, ${region}`,
    read: async () => {
      const deps = { warehouse, view, rollup: createPropertyRollup(warehouse) };
      const found = await readMeterUsage(deps, {
        ...{ environment, meterKey: aggregation, aggregation, span, starts, groupBy, customerId: undefined },
        ...{ filter: region === undefined ? [] : [['region', region]], quantiles: [], limit: 100 },
      });
      const shown = ({ total, count }: typeof found.all) => ({ total: unitsOf(total), count });
      const shownGroups = found.groups.map(({ labels, points }) => {
        return { labels, points: points.map(({ startMs, ...amount }) => ({ startMs, ...shown(amount) })) };
      });
      return { all: shown(found.all), groups: shownGroups.sort(byLabels) };
    },
    expected: { all: amountOf(own), groups: groups.sort(byLabels) },
  };
}

function eventList({ warehouse, view, standing, voided, environment, random }: Reading): HistoryRead {
  const [aggregation, customerId] = [random.pick(AGGREGATIONS), random.pick(CUSTOMERS)];
  const [span, size] = [spanIn(random), 1 + random.below(4)];
  const meter = { key: aggregation, aggregation } as CustomerMeter['meter'];
  const own = ofThese([...standing, ...voided], { customerId, meterKey: aggregation, ...span });
  const customerMeter = { environment, customerId, meter };
  return {
    name: 'list of events, page by page',
    read: async () => {
      const all: unknown[] = [];
      for (let after: UsedEvent | undefined; ; ) {
        const page = await readUsageEvents({ warehouse, view }, { customerMeter, span, after, limit: size });
        all.push(...page.map(({ id, change, isVoided }) => ({ id, change, isVoided })));
        if (page.length < size) return all;
        after = page.at(-1) as unknown as UsedEvent;
      }
    },
    expected: own
      .sort((a, b) => a.occurredAtMs - b.occurredAtMs || (a.id < b.id ? -1 : 1))
      .map((one) => ({ id: one.id, change: one.change, isVoided: voided.includes(one) })),
  };
}

function found({ warehouse, view, standing, voided, environment, random }: Reading): HistoryRead {
  const sought = random.pick([...standing, ...voided, undefined]);
  return {
    name: 'an event by its id',
    read: async () => {
      const rows = await findUsageEvents({ warehouse, view }, { environment, id: sought?.id ?? 'use_none' });
      return rows.map(({ id, isVoided }) => ({ id, isVoided }));
    },
    expected: sought ? [{ id: sought.id, isVoided: voided.includes(sought) }] : [],
  };
}

function priced({ warehouse, view, standing, environment, random }: Reading): HistoryRead {
  const questions = AGGREGATIONS.map((aggregation) => {
    const customerId = random.pick(CUSTOMERS);
    return { customerId, meterKey: aggregation, aggregation, parts: [spanIn(random)] };
  });
  const [sum] = questions as [(typeof questions)[number]];
  const own = ofThese(standing, { ...sum, ...sum.parts[0] } as Of);
  const [values, bound] = [['eu', 'us'], 5n * 10n ** 12n];
  const byValue = groupedBy(own, ({ region }) => (values.includes(region ?? '') ? (region as string) : ''));
  const inBound = own.filter(({ units }) => units >= 0n && units <= bound);
  return {
    name: 'priced usage',
    read: async () => {
      const limits = { connection: 'long', timeoutMs: 60_000 } as const;
      const read = { warehouse, view, environment, ...limits };
      const [labels = []] = await readByValue(read, [
        { ...sum, aggregation: 'sum', property: 'region', values },
      ]);
      const [bounds] = await readByBound(read, [{ ...sum, from: '0', to: '5' }]);
      return {
        totals: await readTotals(read, questions),
        labels: labels.map(({ value = '', units }) => [value, units]).sort(),
        bounds: [bounds?.total, bounds?.events],
      };
    },
    expected: {
      totals: questions.map(({ parts, ...question }) =>
        amount(ofThese(standing, { ...question, ...parts[0] }), question.aggregation),
      ),
      labels: [...byValue].map(([value, some]) => [value, amount(some, 'sum')]).sort(),
      bounds: [amount(own, 'sum'), BigInt(inBound.length)],
    },
  };
}

function settled({ warehouse, view, standing, environment, random }: Reading): HistoryRead {
  const questions = AGGREGATIONS.flatMap((aggregation) =>
    CUSTOMERS.flatMap((customerId) =>
      [ALL, spanIn(random)].map((span) => {
        return { environment, customerId, meterKey: aggregation, aggregation, span };
      }),
    ),
  );
  // Enough of one span for the statement of whole hours.
  const month = { fromMs: Date.UTC(2026, 9), toMs: Date.UTC(2026, 10) };
  const ofMonth = Array.from({ length: 4 }, () => questions.filter(({ span }) => span === ALL)).flat();
  const asked = [...questions, ...ofMonth.map((question) => ({ ...question, span: month }))];
  return {
    name: 'usage as it is settled',
    read: () => readUsage({ warehouse, views: new Map([[environment, view]]) }, asked),
    expected: asked.map(({ customerId, meterKey, aggregation, span }) =>
      amount(ofThese(standing, { customerId, meterKey, ...span }), aggregation),
    ),
  };
}

function labelled({ warehouse, view, standing, environment, random }: Reading): HistoryRead {
  const property = { name: 'region', rates: { eu: '1', us: '2' } };
  const questions = CUSTOMERS.map((customerId) => {
    const span = spanIn(random);
    return { environment, customerId, meterKey: 'sum', aggregation: 'sum' as const, span, property };
  });
  return {
    name: 'usage by label as it is settled',
    read: async () => {
      const views = new Map([[environment, view]]);
      const found = await readLabelledUsage({ warehouse, views }, questions);
      return found.map((usage) => usage.map(({ label, units }) => [label, units]).sort());
    },
    expected: questions.map(({ customerId, span }) => {
      const own = ofThese(standing, { customerId, meterKey: 'sum', ...span });
      const labels = groupedBy(own, ({ region }) => {
        return region === 'eu' || region === 'us' ? labelOfValue(region) : UNRATED;
      });
      return [...labels].map(([label, some]) => [label, amount(some, 'sum')]).sort();
    }),
  };
}
