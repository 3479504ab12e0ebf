import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import type { UsageSource } from './property-rollup.ts';
import { quantileTexts } from './value-quantiles.ts';

/** Decimals as canonical text. */
export interface UsageAmount {
  total: string;
  count: number;
  quantiles: string[];
}

/** A bucket of a group, with the bucket's start. */
export interface UsagePoint extends UsageAmount {
  startMs: number;
}

export interface UsageGroup {
  /** In the order of `groupBy`. */
  labels: string[];
  /** Ascending; only buckets with usage. */
  points: UsagePoint[];
}

export interface MeterUsage {
  /** What was read but for hours that the span or a bucket cuts. */
  source: UsageSource;
  all: UsageAmount;
  /** How many there are, shown or not. */
  groupCount: number;
  /** Largest total first, then by labels. */
  groups: UsageGroup[];
  /** What is beyond the limit. */
  other: (UsageAmount & { points: UsagePoint[] }) | undefined;
}

/** Of the statement of read-meter-usage.ts. */
export interface UsageRow {
  isWhole: number | string;
  isAll: number | string;
  slot: string;
  bucket: string;
  names: string[];
  count: string;
  total: string;
  spreads: string[];
  places: string;
  lacks: string;
}

/** The rows are in the order of the statement. */
export function usageOf(rows: readonly UsageRow[], limit: number): Omit<MeterUsage, 'source'> {
  const usage: Omit<MeterUsage, 'source'> = { all: NOTHING, groupCount: 0, groups: [], other: undefined };
  for (const row of rows) {
    const point = { startMs: Number(row.bucket), ...amountOf(row) };
    if (Number(row.isAll) === 1) {
      usage.all = amountOf(row);
      usage.groupCount = Number(row.places);
    } else if (Number(row.slot) > limit) {
      usage.other ??= { ...NOTHING, points: [] };
      if (Number(row.isWhole) === 1) Object.assign(usage.other, amountOf(row));
      else usage.other.points.push(point);
    } else if (Number(row.isWhole) === 0) {
      const group = usage.groups[Number(row.slot) - 1];
      if (group) group.points.push(point);
      else usage.groups.push({ labels: row.names, points: [point] });
    }
  }
  return usage;
}

const NOTHING: UsageAmount = { total: '0', count: 0, quantiles: [] };

function amountOf({ total, count, spreads }: UsageRow): UsageAmount {
  // Of no row at all ClickHouse has quantiles of nothing.
  const quantiles = Number(count) === 0 ? [] : quantileTexts(spreads);
  return { total: unitsText(decimalUnits(total)), count: Number(count), quantiles };
}
