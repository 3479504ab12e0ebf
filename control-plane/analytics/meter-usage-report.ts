import { csvLine, csvText } from '../../schemas/primitives/csv.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { exactNumber, numberText } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type {
  MeterUsageBucket,
  MeterUsageEntry,
  MeterUsageReport,
} from '../../schemas/resources/meter-usage.ts';
import type { MeterUsage, UsageAmount, UsagePoint } from '../store/meter-usage-rows.ts';
import type { MeterUsageForm } from './meter-usage-query.ts';

type Entries = Pick<MeterUsageReport, 'total' | 'count' | 'quantiles' | 'groups' | 'data' | 'other'>;

/** The part of a report that comes from the warehouse. */
export function shownUsage(usage: MeterUsage, form: MeterUsageForm, levels: readonly number[]): Entries {
  const { all, groupCount, other } = usage;
  const ends = new Map(form.starts.map((ms, at) => [ms, form.starts[at + 1] ?? form.span.toMs]));
  const shown = ({ startMs, ...amount }: UsagePoint) => ({
    from: timestampText(startMs),
    to: timestampText(ends.get(startMs) ?? form.span.toMs),
    ...shownAmount(amount, levels),
  });
  return {
    ...shownAmount(all, levels),
    groups: groupCount,
    data: sorted(pointsOf(usage, form), form).map(({ labels, point }) => {
      const { from, to, ...amount } = shown(point);
      return { from, to, group: groupOf(form, labels), ...amount };
    }),
    ...(other
      ? {
          other: {
            groups: groupCount - usage.groups.length,
            ...shownAmount(other, levels),
            data: filled(other.points, form).map(shown),
          },
        }
      : {}),
  };
}

/** One line per entry; those of `other` come last. */
export function usageCsv(
  { data, other }: Entries,
  { groupBy }: MeterUsageForm,
  levels: readonly number[],
): string {
  const header = ['from', 'to', ...groupBy.map(csvText), 'total', 'count', ...levels.map((q) => `q${q}`)];
  const amounts = ({ total, count, quantiles = [] }: MeterUsageBucket) => [
    numberText(total) ?? '',
    count,
    ...levels.map((_, at) => numberText(quantiles[at]?.value) ?? ''),
  ];
  const lines = [
    csvLine([...header, 'isOther']),
    ...data.map((entry) => {
      const labels = groupBy.map((name) => csvText(labelIn(entry, name)));
      return csvLine([entry.from, entry.to, ...labels, ...amounts(entry), false]);
    }),
    ...(other?.data ?? []).map((entry) =>
      csvLine([entry.from, entry.to, ...groupBy.map(() => ''), ...amounts(entry), true]),
    ),
  ];
  return lines.join('');
}

function labelIn({ group }: MeterUsageEntry, name: string): string {
  return Object.hasOwn(group, name) ? (group[name] ?? '') : '';
}

interface Entry {
  labels: readonly string[];
  /** Of the group, by its total. */
  rank: number;
  point: UsagePoint;
}

function pointsOf({ groups }: MeterUsage, form: MeterUsageForm): Entry[] {
  // Without groups there is one, also where nothing was used.
  const all = form.groupBy.length === 0 && groups.length === 0 ? [{ labels: [], points: [] }] : groups;
  return all.flatMap(({ labels, points }, rank) =>
    filled(points, form).map((point) => ({ labels, rank, point })),
  );
}

/** With an entry for each bucket, if the request asked for it. */
function filled(points: readonly UsagePoint[], { starts, isFilled }: MeterUsageForm): UsagePoint[] {
  if (!isFilled) return [...points];
  const byStart = new Map(points.map((point) => [point.startMs, point]));
  return starts.map((startMs) => byStart.get(startMs) ?? { startMs, total: '0', count: 0, quantiles: [] });
}

function sorted(entries: Entry[], { order }: MeterUsageForm): Entry[] {
  const byTime = (a: Entry, b: Entry) => a.point.startMs - b.point.startMs || a.rank - b.rank;
  if (order === 'time') return entries.sort(byTime);
  const sized = entries.map((entry) => ({ ...entry, units: decimalUnits(entry.point.total) }));
  return sized.sort((a, b) => (a.units === b.units ? byTime(a, b) : a.units > b.units ? -1 : 1));
}

/** Own members, whatever a property is called. */
function groupOf({ groupBy }: MeterUsageForm, labels: readonly string[]): Record<string, string> {
  return Object.fromEntries(groupBy.map((name, at) => [name, labels[at] ?? '']));
}

function shownAmount({ total, count, quantiles }: UsageAmount, levels: readonly number[]) {
  return {
    total: exactNumber(total),
    count,
    ...(levels.length > 0 ? { quantiles: shownQuantiles(levels, quantiles) } : {}),
  };
}

/** None of no events. */
export function shownQuantiles(levels: readonly number[], values: readonly string[]) {
  return values.map((value, at) => ({ quantile: levels[at] ?? 0, value: exactNumber(value) }));
}
