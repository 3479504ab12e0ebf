import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { type CreditRates, rateOfLabel } from './credit-cost.ts';
import { larger, smaller } from './credit-units.ts';
import type { SettledUsage, UsageCell } from './usage-cells.ts';

/** Usage under one value of the rates' property, in units of 10^-12. Negative where it was corrected. */
export interface LabelledUsage {
  label: string;
  units: bigint;
}

export interface CellUsage {
  cell: UsageCell;
  /** Each label once. */
  usage: readonly LabelledUsage[];
}

/**
 * What the usage of a period costs, by cell and label: a row for each of them where the cell has a rate.
 * Cells are in the order of time. `earlier` is the usage before the period, for limits that began before it.
 *
 * Usage costs its rate where it goes beyond the larger of the limit of its cell and what was used before it
 * since that limit's window began; of several limits the one that covers most. Within a cell the dearest
 * usage has what is left of the allowance. A correction takes away the latest usage before it, first of its
 * own label: what is left costs what it would have cost alone. What nothing is left for counts against the
 * usage after it. All of it depends on what was used and when, not on what was settled before: in whatever
 * order events come, they cost the same in the end.
 */
export function costOfPeriod(cells: readonly CellUsage[], earlier?: EarlierUsage): SettledUsage[] {
  const entries: Entry[] = [];
  const costs = cells.map(({ cell, usage }) => {
    const own = dearestFirst(usage, cell.rated?.rates).map((one) => ({ ...one, cell, left: 0n, burned: 0n }));
    const overdrawn = own.reduce((sum, one) => sum + takeBack(entries, one), 0n);
    for (const one of own) if (one.units > 0n) one.left = one.units;
    entries.push(...own);
    return { cell, own, overdrawn };
  });
  const counted = createUsageCount(earlier);
  for (const { cell, own, overdrawn } of costs) {
    counted.begin(cell.fromMs);
    counted.add(-overdrawn);
    for (const entry of own) {
      entry.burned = costOf(entry, counted);
      counted.add(entry.left);
    }
  }
  return costs.flatMap(({ cell, own }) =>
    own.filter((entry) => isKept(cell, entry)).map((entry) => rowOf(cell, entry)),
  );
}

/** Of what is read again each time there is a row only where it costs something. */
function isKept({ rated, source }: UsageCell, { burned }: Entry): boolean {
  return rated !== undefined && (burned > 0n || source !== 'total');
}

/** Usage of one cell and label. */
interface Entry extends LabelledUsage {
  cell: UsageCell;
  /** Of what was used: what no correction has taken away. */
  left: bigint;
  burned: bigint;
}

/** Takes away what a correction corrects, the latest first. Gives how much there was not. */
function takeBack(entries: readonly Entry[], { label, units }: LabelledUsage): bigint {
  let rest = units < 0n ? -units : 0n;
  const take = (isMeant: (entry: Entry) => boolean) => {
    for (let at = entries.length - 1; at >= 0 && rest > 0n; at -= 1) {
      const entry = entries[at] as Entry;
      if (!isMeant(entry)) continue;
      const taken = smaller(entry.left, rest);
      entry.left -= taken;
      rest -= taken;
    }
  };
  take((entry) => entry.label === label);
  take(() => true);
  return rest;
}

function costOf({ cell: { allowance, rated }, label, left }: Entry, counted: UsageCount): bigint {
  const rates = rated?.rates;
  if (!rates || allowance === null) return 0n;
  const open = allowance.map(({ amount, fromMs }) => decimalUnits(amount) - counted.since(fromMs));
  // Without a limit, too, what corrections had nothing to take from counts against the usage after them.
  const covered = smaller([...open, -counted.inPeriod()].reduce(larger, 0n), left);
  return (left - covered) * decimalUnits(rateOfLabel(label, rates));
}

/** What was used before the cells of a period. */
export interface EarlierUsage {
  toMs: number;
  units: bigint;
}

interface UsageCount {
  /** The next cell. */
  begin(fromMs: number): void;
  add(units: bigint): void;
  /** What was used from then on up to now: the start of a cell, or a time before the period. */
  since(fromMs: number): bigint;
  inPeriod(): bigint;
}

function createUsageCount(earlier: EarlierUsage | undefined): UsageCount {
  const starts: Array<{ fromMs: number; before: bigint }> = [];
  /** Of windows, by their start. */
  const known = new Map<number, bigint>();
  let used = 0n;
  return {
    begin: (fromMs) => void starts.push({ fromMs, before: used }),
    add(units) {
      used += units;
    },
    inPeriod: () => used,
    since(fromMs) {
      if (earlier && fromMs < earlier.toMs) return earlier.units + used;
      const before = known.get(fromMs) ?? starts.find((one) => one.fromMs >= fromMs)?.before ?? used;
      known.set(fromMs, before);
      return used - before;
    },
  };
}

function dearestFirst(usage: readonly LabelledUsage[], rates: CreditRates | undefined): LabelledUsage[] {
  if (!rates) return [...usage];
  return [...usage].sort((a, b) => {
    const difference = decimalUnits(rateOfLabel(b.label, rates)) - decimalUnits(rateOfLabel(a.label, rates));
    if (difference !== 0n) return difference > 0n ? 1 : -1;
    return a.label < b.label ? -1 : 1;
  });
}

function rowOf({ fromMs, toMs, rated }: UsageCell, { label, units, burned }: Entry): SettledUsage {
  return { fromMs, toMs, version: rated?.version ?? 0, label, used: units, burned };
}

/** What has to be written so that the rows of these periods are those that they cost. */
export interface RowChanges {
  written: SettledUsage[];
  /** Rows that are no more. */
  removed: SettledUsage[];
}

export function rowChanges(now: readonly SettledUsage[], stored: readonly SettledUsage[]): RowChanges {
  const before = new Map(stored.map((row) => [nameOf(row), row]));
  const names = new Set(now.map(nameOf));
  return {
    written: now.filter((row) => !isSameRow(row, before.get(nameOf(row)))),
    removed: stored.filter((row) => !names.has(nameOf(row))),
  };
}

function isSameRow(a: SettledUsage, b: SettledUsage | undefined): boolean {
  if (!b || a.toMs !== b.toMs || a.version !== b.version) return false;
  return a.used === b.used && a.burned === b.burned;
}

/** As the table's key has it. */
function nameOf({ fromMs, label }: SettledUsage): string {
  return `${fromMs} ${label}`;
}
