import { type BurnCell, brokenSpans, isWithin, type StoredBurn, type StoredSpan } from './burn-cells.ts';
import { type CreditRates, rateOfLabel, UNRATED } from './credit-cost.ts';
import { smaller } from './credit-units.ts';
import { decimalUnits } from './decimal.ts';

/** Usage under one value of the rates' property, in units of 10^-12. */
export interface LabelledUsage {
  label: string;
  units: bigint;
}

/** A cell with what its usage costs in all, in units of 10^-24. */
export interface DueCell extends BurnCell {
  dues: Array<{ label: string; credits: bigint }>;
}

/**
 * What the usage of a cell costs: with an allowance the part of it beyond, as far as it was not used up
 * `before` in the period. Within the cell the dearest usage has what is left of it. So more usage, of any
 * value and at any moment, makes no due smaller: in what order it is counted changes nothing.
 */
export function duesOf(
  { allowance, rated }: Pick<BurnCell, 'allowance' | 'rated'>,
  before: bigint,
  usage: readonly LabelledUsage[],
): DueCell['dues'] {
  const rates = rated?.rates;
  if (!rates || allowance === null) return [];
  const free = allowance === undefined ? undefined : decimalUnits(allowance);
  const beyond = (units: bigint) => (free === undefined ? units : units > free ? units - free : 0n);
  let used = before;
  return [...usage].sort(dearestFirst(rates)).map(({ label, units }) => {
    const billable = beyond(used + units) - beyond(used);
    used += units;
    return { label, credits: billable * decimalUnits(rateOfLabel(label, rates)) };
  });
}

function dearestFirst(rates: CreditRates) {
  return (a: LabelledUsage, b: LabelledUsage): number => {
    const difference = decimalUnits(rateOfLabel(b.label, rates)) - decimalUnits(rateOfLabel(a.label, rates));
    if (difference !== 0n) return difference > 0n ? 1 : -1;
    return a.label < b.label ? -1 : 1;
  };
}

/** What has to be written and burned so that every cell has burned what it owes. */
export interface Settlement {
  /** With what they have burned now. */
  written: StoredBurn[];
  /** Spans that are no more. */
  removed: StoredSpan[];
  /** By the cell that owes it; never negative. */
  owed: Array<{ cell: BurnCell; credits: bigint }>;
}

/**
 * Compares what cells owe with what they have burned. Whatever they owe less than before is not given back:
 * it stays burned. A stored span that was cut gives what it had burned to its pieces, each as much as it
 * owes, the last one the rest: nothing is burned for the same usage a second time.
 */
export function settleBurns(cells: readonly DueCell[], stored: readonly StoredBurn[]): Settlement {
  const removed = brokenSpans(cells, stored);
  const given = removed.flatMap((span) => shareOut(span, cells, stored));
  const known = new Map(
    [...stored.filter((one) => !removed.some((span) => isWithin(one, span))), ...given].map(
      (one) => [placeOf(one, one.label), one] as const,
    ),
  );
  const written = new Map(given.map((one) => [placeOf(one, one.label), one]));
  const owed = cells.map((cell) => {
    let credits = 0n;
    for (const due of cell.dues) {
      const place = placeOf(cell, due.label);
      const burned = known.get(place)?.burned ?? 0n;
      if (due.credits <= burned) continue;
      credits += due.credits - burned;
      const { fromMs, toMs } = cell;
      const version = cell.rated?.version ?? 0;
      written.set(place, { fromMs, toMs, version, label: due.label, burned: due.credits });
    }
    return { cell, credits };
  });
  return { written: [...written.values()], removed, owed: owed.filter(({ credits }) => credits > 0n) };
}

function placeOf({ fromMs }: { fromMs: number }, label: string): string {
  return `${fromMs} ${label}`;
}

/** A piece of a span that was cut. */
type Piece = Pick<DueCell, 'fromMs' | 'toMs' | 'dues'> & { version: number };

function shareOut(span: StoredSpan, cells: readonly DueCell[], stored: readonly StoredBurn[]): StoredBurn[] {
  let left = stored.filter((one) => isWithin(one, span)).reduce((sum, { burned }) => sum + burned, 0n);
  const pieces = piecesOf(span, cells);
  const shares: StoredBurn[] = [];
  pieces.forEach(({ dues, ...piece }, at) => {
    const isLast = at === pieces.length - 1;
    const takers = dues.length > 0 ? dues : [{ label: UNRATED, credits: 0n }];
    takers.forEach(({ label, credits }, taker) => {
      const wanted = credits > 0n ? credits : 0n;
      const burned = isLast && taker === takers.length - 1 ? left : smaller(left, wanted);
      left -= burned;
      if (burned > 0n) shares.push({ ...piece, label, burned });
    });
  });
  return shares;
}

/** Its cells, and what no cell covers. */
function piecesOf(span: StoredSpan, cells: readonly DueCell[]): Piece[] {
  const inside = cells.filter((cell) => isWithin(cell, span)).sort((a, b) => a.fromMs - b.fromMs);
  const pieces: Piece[] = [];
  let atMs = span.fromMs;
  const addGap = (toMs: number) => {
    if (atMs < toMs) pieces.push({ fromMs: atMs, toMs, dues: [], version: span.version });
  };
  for (const { fromMs, toMs, dues, rated } of inside) {
    addGap(fromMs);
    pieces.push({ fromMs, toMs, dues, version: rated?.version ?? span.version });
    atMs = toMs;
  }
  addGap(span.toMs);
  return pieces;
}
