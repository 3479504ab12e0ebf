import { createPropertyRollup } from '../../control-plane/store/property-rollup.ts';
import { readBreakdown } from '../../control-plane/store/read-breakdown.ts';
import { readMeterUsage } from '../../control-plane/store/read-meter-usage.ts';
import type { CustomerMeter } from '../../control-plane/usage/customer-meter.ts';
import { AGGREGATIONS } from '../../schemas/usage-limits.ts';
import { groupedBy, unitsOf } from '../support/usage-oracle.ts';
import { CUSTOMERS, FIRST_MS, HOUR_MS, REGIONS, type UsedEvent } from './changed-history.ts';
import { amount, type HistoryRead, ofThese, type Reading, spanIn } from './history-reads.ts';

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

export function breakdown({ warehouse, view, standing, environment, random }: Reading): HistoryRead {
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

export function meterUsage({ warehouse, view, standing, environment, random }: Reading): HistoryRead {
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
