import { HOUR_MS, type Span } from '../../schemas/primitives/calendar.ts';
import { type Allowance, type BilledPeriod, cut } from './billed-periods.ts';
import type { RateVersion } from './credit-cost.ts';

/*
 * A period in cells, by which its usage is read, paid and stored. A stretch of one allowance and one version
 * of the rates is one cell, whose usage the rollup has. Where the rates depend on a property, usage is read
 * from the events themselves: there cells are hours, and hours without new events are not read again.
 */

/** A part of a period in which one allowance and one version of the rates hold. */
export interface UsageCell extends Span {
  allowance: Allowance;
  /** Undefined: usage in it costs nothing. */
  rated: RateVersion | undefined;
  /** Of its usage: the sum, the sums by label, or those of the last settlement. */
  source: 'total' | 'labels' | 'stored';
}

/** What was used in a cell under one label, and what that cost. One row of a settled period. */
export interface SettledUsage extends Span {
  version: number;
  label: string;
  /** In units of 10^-12; undefined in rows of earlier releases, which did not keep it. */
  used: bigint | undefined;
  /** In units of 10^-24; never negative. */
  burned: bigint;
}

/** A part of a labelled stretch that is not read: its usage is what was stored. */
export interface UnreadPart extends Span {
  /** In units of 10^-12. */
  used: bigint;
}

export interface CellPeriod extends Span {
  cells: UsageCell[];
  /** Usage of this time counts against a limit that never resets. */
  earlier: Span | undefined;
  /** To compare with the rollup: where they differ the hours have to be read. */
  unread: UnreadPart[];
}

/** The times that are settled. */
export type TouchedSpan = { firstMs: number; lastMs: number };

/** The cells of a period, in order; where there is none nothing was used. `stored` are rows that meet it. */
export function cellsOf(
  period: BilledPeriod,
  { versions, stored }: { versions: readonly RateVersion[]; stored: readonly SettledUsage[] },
  touched: readonly TouchedSpan[],
): CellPeriod {
  const starts = versions.flatMap(({ startMs, burnsFromMs }) => [startMs, burnsFromMs]);
  const bounds = [...new Set(starts)].sort((a, b) => a - b);
  const cells: UsageCell[] = [];
  const unread: UnreadPart[] = [];
  for (const { allowance, ...stretch } of period.stretches) {
    for (const span of cut(stretch, bounds)) {
      const rated = versionAt(versions, span.fromMs);
      if (!rated?.rates?.property) {
        cells.push({ ...span, allowance, rated, source: 'total' });
        continue;
      }
      const hours = hourCells(span, { allowance, rated, stored, touched });
      cells.push(...hours.cells);
      unread.push(...hours.unread);
    }
  }
  return { fromMs: period.fromMs, toMs: period.toMs, cells, earlier: period.earlier, unread };
}

/** All hours of these spans are read. */
export function touchedBy(spans: readonly Span[]): TouchedSpan[] {
  return spans.map(({ fromMs, toMs }) => ({ firstMs: fromMs, lastMs: toMs - 1 }));
}

function isWithin(inner: Span, outer: Span): boolean {
  return outer.fromMs <= inner.fromMs && inner.toMs <= outer.toMs;
}

export function meet(a: Span, b: Span): boolean {
  return a.fromMs < b.toMs && b.fromMs < a.toMs;
}

/** Undefined where nothing is burned. */
function versionAt(versions: readonly RateVersion[], atMs: number): RateVersion | undefined {
  const version = versions.findLast(({ startMs }) => startMs <= atMs);
  return version?.rates && version.burnsFromMs <= atMs ? version : undefined;
}

interface HourQuestion extends Pick<UsageCell, 'allowance'> {
  rated: RateVersion;
  stored: readonly SettledUsage[];
  touched: readonly TouchedSpan[];
}

/** The hours that are read, and between them the stored cells as they are. */
function hourCells(
  span: Span,
  { allowance, rated, stored, touched }: HourQuestion,
): { cells: UsageCell[]; unread: UnreadPart[] } {
  const inside = stored.filter((row) => meet(row, span));
  const [kept, broken] = parted(inside, (row) => isHourOf(span, row) && isCurrent(row, rated.version));
  const read = mergedSpans([
    ...touched.map(({ firstMs, lastMs }) => wholeHours({ fromMs: firstMs, toMs: lastMs + 1 })),
    ...broken.map(wholeHours),
  ]).flatMap((one) => (meet(one, span) ? [clipped(one, span)] : []));
  const cells: UsageCell[] = [];
  for (const one of read) {
    for (let hourMs = one.fromMs; hourMs < one.toMs; hourMs = nextHourMs(hourMs)) {
      const toMs = Math.min(nextHourMs(hourMs), one.toMs);
      cells.push({ fromMs: hourMs, toMs, allowance, rated, source: 'labels' });
    }
  }
  const known = kept.filter((row) => !read.some((one) => meet(row, one)));
  for (const [fromMs, toMs] of new Map(known.map((row) => [row.fromMs, row.toMs]))) {
    cells.push({ fromMs, toMs, allowance, rated, source: 'stored' });
  }
  const bounds = read.flatMap(({ fromMs, toMs }) => [fromMs, toMs]);
  const unread = cut(span, bounds).flatMap((part) => {
    if (read.some((one) => isWithin(part, one))) return [];
    const rows = known.filter((row) => isWithin(row, part));
    return [{ ...part, used: rows.reduce((sum, { used = 0n }) => sum + used, 0n) }];
  });
  return { cells: cells.sort((a, b) => a.fromMs - b.fromMs), unread };
}

function isCurrent({ version, used }: SettledUsage, current: number): boolean {
  return version === current && used !== undefined;
}

/** Whether a stored span is one of the hours that this stretch is cut into. */
function isHourOf(span: Span, row: Span): boolean {
  const hour = clipped(wholeHours({ fromMs: row.fromMs, toMs: row.fromMs + 1 }), span);
  return hour.fromMs === row.fromMs && hour.toMs === row.toMs;
}

function nextHourMs(atMs: number): number {
  return (Math.floor(atMs / HOUR_MS) + 1) * HOUR_MS;
}

function wholeHours({ fromMs, toMs }: Span): Span {
  return { fromMs: Math.floor(fromMs / HOUR_MS) * HOUR_MS, toMs: Math.ceil(toMs / HOUR_MS) * HOUR_MS };
}

function clipped(span: Span, { fromMs, toMs }: Span): Span {
  return { fromMs: Math.max(span.fromMs, fromMs), toMs: Math.min(span.toMs, toMs) };
}

function mergedSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = merged.at(-1);
    if (last && span.fromMs <= last.toMs) last.toMs = Math.max(last.toMs, span.toMs);
    else merged.push({ ...span });
  }
  return merged;
}

function parted<One>(all: readonly One[], isFirst: (one: One) => boolean): [One[], One[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}
