import { type BilledPeriod, type BilledQuestion, billedPeriods, cut } from './billed-periods.ts';
import { HOUR_MS, type Span } from './calendar.ts';
import type { RateVersion } from './credit-cost.ts';
import type { Allowance } from './metered-period.ts';
import type { Holdings } from './resolve-entitlements.ts';

/** What was burned by the usage of a span, under one version and one value of its property. */
export interface StoredBurn extends Span {
  version: number;
  label: string;
  /** In units of 10^-24. */
  burned: bigint;
}

/** A stretch of a period within which one allowance holds, one version of the rates, and one stored span. */
export interface BurnCell extends Span {
  allowance: Allowance;
  /** Undefined: what occurs in it burns nothing. */
  rated: RateVersion | undefined;
  /** It is settled now; otherwise it only stands before others that are. */
  isDue: boolean;
}

/** A period's cells, in order. */
export interface CellPeriod extends Span {
  cells: BurnCell[];
}

/** One customer's meter: what it holds and costs, and what was burned by it so far around these moments. */
export interface BurnFacts {
  holdings: Holdings;
  versions: readonly RateVersion[];
  stored: readonly StoredBurn[];
}

/**
 * Where cells of these periods may be due: which stored spans have to be known. That is all of them, but for
 * rates by a property, whose cells are hours where something was touched.
 */
export function burnStretch(
  periods: readonly BilledPeriod[],
  versions: readonly RateVersion[],
  { firstMs, lastMs }: BilledQuestion,
): Span {
  const fromMs = Math.min(...periods.map((period) => period.fromMs));
  const toMs = Math.max(...periods.map((period) => period.toMs));
  if (versions.some(({ rates }) => rates && !rates.property)) return { fromMs, toMs };
  const isLimited = periods.some(({ spans }) => spans.some(({ allowance }) => typeof allowance === 'string'));
  return {
    fromMs: Math.floor(firstMs / HOUR_MS) * HOUR_MS,
    toMs: isLimited ? toMs : Math.ceil((lastMs + 1) / HOUR_MS) * HOUR_MS,
  };
}

/**
 * The cells of the periods to which the moments of a question belong. `stored` are the spans that meet
 * {@link burnStretch}. One that does not fit any more, since a period or a version turned out to end within
 * it, is cut: all that it covered is then settled with it, also where that belongs to a neighbouring period.
 */
export function burnCells(
  periods: readonly BilledPeriod[],
  facts: BurnFacts,
  question: BilledQuestion,
): CellPeriod[] {
  const fine = { fromMs: question.firstMs, toMs: Math.max(question.lastMs, question.nowMs) + 1 };
  const own = periods.map((period) => ({ ...period, cells: cellsOf(period, facts, fine) }));
  const broken = brokenSpans(
    own.flatMap(({ cells }) => cells),
    facts.stored,
  );
  const names = new Set(own.map((period) => nameOf(period)));
  const others = neighbours(own, broken, { ...question, holdings: facts.holdings })
    .filter((period) => !names.has(nameOf(period)))
    .map((period) => ({ ...period, cells: cellsOf(period, facts) }));
  const isCut = (cell: Span) => broken.some((span) => isWithin(cell, span));
  const touches = ({ fromMs, toMs }: Span) => fromMs <= question.lastMs && question.firstMs < toMs;
  const follows = ({ allowance, toMs }: BurnCell) => typeof allowance === 'string' && question.firstMs < toMs;
  return [
    ...own.map((period) => marked(period, (cell) => touches(cell) || follows(cell) || isCut(cell))),
    ...others.map((period) => marked(period, isCut)),
  ].sort((a, b) => a.fromMs - b.fromMs);
}

/** The stored spans that no cell is any more, each once. */
export function brokenSpans(cells: readonly BurnCell[], stored: readonly StoredBurn[]): StoredSpan[] {
  const fitting = new Set(cells.flatMap((cell) => (cell.rated ? [nameOf(cell, cell.rated.version)] : [])));
  const spans = new Map<string, StoredSpan>();
  for (const { fromMs, toMs, version } of stored) {
    const name = nameOf({ fromMs, toMs }, version);
    if (fitting.has(name) || spans.has(name)) continue;
    const meets = cells.some((cell) => cell.fromMs < toMs && fromMs < cell.toMs);
    if (meets) spans.set(name, { fromMs, toMs, version });
  }
  return [...spans.values()].sort((a, b) => a.fromMs - b.fromMs);
}

export type StoredSpan = Pick<StoredBurn, 'fromMs' | 'toMs' | 'version'>;

export function isWithin(inner: Span, outer: Span): boolean {
  return outer.fromMs <= inner.fromMs && inner.toMs <= outer.toMs;
}

function nameOf({ fromMs, toMs }: Span, version = 0): string {
  return `${fromMs} ${toMs} ${version}`;
}

function cellsOf({ spans }: BilledPeriod, { versions, stored }: BurnFacts, fine?: Span): BurnCell[] {
  const starts = versions.flatMap(({ startMs, burnsFromMs }) => [startMs, burnsFromMs]);
  const ends = stored.flatMap(({ fromMs, toMs }) => [fromMs, toMs]);
  const bounds = [...new Set([...starts, ...ends])].sort((a, b) => a - b);
  return spans.flatMap(({ allowance, ...span }) =>
    cut(span, bounds).flatMap((piece) => {
      const rated = versionAt(versions, piece.fromMs);
      const isFine = rated?.rates?.property !== undefined && fine !== undefined;
      const pieces = isFine ? byHour(piece, fine) : [piece];
      return pieces.map((cell) => ({ ...cell, allowance, rated, isDue: false }));
    }),
  );
}

/** Undefined where nothing is burned. */
function versionAt(versions: readonly RateVersion[], atMs: number): RateVersion | undefined {
  const version = versions.findLast(({ startMs }) => startMs <= atMs);
  return version?.rates && version.burnsFromMs <= atMs ? version : undefined;
}

/**
 * Usage by the values of a property is read from the events themselves: by hours where something was touched,
 * so that a settlement reads those and not a month of them.
 */
function byHour(span: Span, fine: Span): Span[] {
  const first = Math.floor(Math.max(span.fromMs, fine.fromMs) / HOUR_MS);
  const last = Math.ceil(Math.min(span.toMs, fine.toMs) / HOUR_MS);
  const hours = Array.from({ length: Math.max(0, last - first + 1) }, (_, hour) => (first + hour) * HOUR_MS);
  return cut(span, hours);
}

/** Periods that a cut span reaches into. Too short ones are left out: the span keeps what it had there. */
function neighbours(
  own: readonly CellPeriod[],
  broken: readonly Span[],
  { holdings, ...question }: BilledQuestion & { holdings: Holdings },
): BilledPeriod[] {
  const cells = own.flatMap((period) => period.cells);
  const lengthOf = ({ fromMs, toMs }: Span) => toMs - fromMs;
  const outside = broken.filter((span) => {
    const inside = cells.filter((cell) => isWithin(cell, span));
    return inside.reduce((sum, cell) => sum + lengthOf(cell), 0) < lengthOf(span);
  });
  return outside.flatMap(({ fromMs, toMs }) => {
    const { periods, restMs } = billedPeriods(holdings, { ...question, firstMs: fromMs, lastMs: toMs - 1 });
    return restMs === undefined ? periods : [];
  });
}

/** Of the cells that are not due those that an allowance is used up by stay, together. */
function marked({ fromMs, toMs, cells }: CellPeriod, isDue: (cell: BurnCell) => boolean): CellPeriod {
  const flagged = cells.map((cell) => ({ ...cell, isDue: cell.rated !== undefined && isDue(cell) }));
  const lastAllowed = flagged.findLastIndex((cell) => cell.isDue && typeof cell.allowance === 'string');
  const kept: BurnCell[] = [];
  flagged.forEach((cell, at) => {
    const last = kept.at(-1);
    if (cell.isDue) kept.push(cell);
    else if (at > lastAllowed) return;
    else if (last && !last.isDue && last.toMs === cell.fromMs) last.toMs = cell.toMs;
    else kept.push({ ...cell, rated: undefined });
  });
  return { fromMs, toMs, cells: kept };
}
