import type { Span } from '../../../schemas/primitives/calendar.ts';
import { cut } from '../billed-periods.ts';
import { type BillingCycle, periodAt } from '../billing-period.ts';
import type { Price } from './price.ts';

/** What a subscription pays for, from this time up to the next term. */
export interface PricedTerm {
  startsMs: number;
  /** False in a trial, while it is paused, and when it has ended. */
  isCharged: boolean;
  planId: string;
  /** Where it is pinned. */
  planVersion: number | null;
  addons: ReadonlyArray<{ addonId: string; quantity: number }>;
  /** The lattice of its periods. */
  cycle: BillingCycle;
}

/** The prices of a plan's version, or of an add-on, from this time on. */
export interface PriceSet<P extends Price = Price> {
  /** Of a plan or an add-on. */
  ownerId: string;
  /** Of a plan. */
  version: number | null;
  startsMs: number;
  prices: readonly P[];
}

/** A part of one of a price's periods in which all that it depends on stays as it is, but for usage. */
export interface PricedSpan<P extends Price = Price> extends Span {
  ownerId: string;
  price: P;
  /** How often it is charged: the quantity of an add-on for a flat price, else 1. */
  times: number;
  /** The price's own period. */
  period: Span;
  /** From when on usage counts: the beginning of the period, or of the price within it. */
  beganMs: number;
}

/**
 * What a subscription is charged for in a span, without proration. A price is charged from the beginning of
 * each of its periods. One that begins within a period is charged as a whole, and counts usage from there on;
 * so is each unit that is added to a quantity. A price that is changed goes on: what was charged stays, and
 * only what comes later is charged the new amounts. Nothing is given back for what ends within a period.
 *
 * `terms` and `sets` are in the order of time, sets of one time in that of their versions.
 */
export function pricedSpans<P extends Price>(
  terms: readonly PricedTerm[],
  sets: readonly PriceSet<P>[],
  { fromMs, toMs }: Span,
): PricedSpan<P>[] {
  const firstMs = terms[0]?.startsMs ?? toMs;
  if (firstMs >= toMs) return [];
  const times = [...terms, ...sets].map(({ startsMs }) => startsMs).concat(fromMs);
  const ascending = [...new Set(times)].sort((a, b) => a - b);
  const spans: PricedSpan<P>[] = [];
  let charged: Charged<P>[] = [];
  for (const piece of cut({ fromMs: firstMs, toMs }, ascending)) {
    charged = chargedIn(terms, sets, piece.fromMs).flatMap((one) =>
      withBeginnings(one, charged, piece.fromMs),
    );
    if (piece.fromMs < fromMs) continue;
    for (const one of charged) for (const span of spansOf(one, piece)) add(spans, span);
  }
  return spans;
}

/** One price of a term, as often as it is charged, and since when. */
interface Charged<P extends Price> {
  id: string;
  ownerId: string;
  price: P;
  cycle: BillingCycle;
  times: number;
  sinceMs: number;
}

type Chosen<P extends Price> = Omit<Charged<P>, 'sinceMs'>;

function chargedIn<P extends Price>(
  terms: readonly PricedTerm[],
  sets: readonly PriceSet<P>[],
  atMs: number,
): Chosen<P>[] {
  const term = terms.findLast(({ startsMs }) => startsMs <= atMs);
  if (!term?.isCharged) return [];
  const { planId, planVersion, addons, cycle } = term;
  const owners = [
    { ownerId: planId, version: planVersion, quantity: 1 },
    ...addons.map(({ addonId, quantity }) => ({ ownerId: addonId, version: null, quantity })),
  ];
  return owners.flatMap(({ ownerId, version, quantity }) => {
    const set = sets.findLast((one) => {
      return one.ownerId === ownerId && one.startsMs <= atMs && (version === null || one.version === version);
    });
    return variantsFor(set?.prices ?? [], cycle).map((price): Chosen<P> => {
      const { key, currency, interval, intervalCount, model } = price;
      const id = [ownerId, key, currency, interval, intervalCount].join(' ');
      return { id, ownerId, price, cycle, times: model === 'flat' ? quantity : 1 };
    });
  });
}

/** Of the prices with one key and currency the one with the subscription's interval, else the shortest. */
function variantsFor<P extends Price>(prices: readonly P[], cycle: BillingCycle): P[] {
  const chosen = new Map<string, P>();
  for (const price of prices) {
    const name = `${price.currency} ${price.key}`;
    const other = chosen.get(name);
    if (!other || rank(price, cycle) < rank(other, cycle)) chosen.set(name, price);
  }
  return [...chosen.values()];
}

const DAYS = { day: 1, week: 7, month: 30.44, year: 365.25 };

function rank({ interval, intervalCount }: Price, cycle: BillingCycle): number {
  const isOwn = interval === cycle.interval && intervalCount === cycle.intervalCount;
  return isOwn ? 0 : DAYS[interval] * intervalCount;
}

/** With the times at which its units began: units that were there stay, the last ones added go first. */
function withBeginnings<P extends Price>(
  chosen: Chosen<P>,
  before: readonly Charged<P>[],
  nowMs: number,
): Charged<P>[] {
  let left = chosen.times;
  const kept = before
    .filter(({ id }) => id === chosen.id)
    .flatMap(({ times, sinceMs }) => {
      const taken = Math.min(times, left);
      left -= taken;
      return taken > 0 ? [{ ...chosen, times: taken, sinceMs }] : [];
    });
  return left > 0 ? [...kept, { ...chosen, times: left, sinceMs: nowMs }] : kept;
}

function* spansOf<P extends Price>(charged: Charged<P>, piece: Span): Generator<PricedSpan<P>> {
  const { ownerId, price, cycle, times, sinceMs } = charged;
  const { interval, intervalCount } = price;
  const lattice = { anchorMs: cycle.anchorMs, interval, intervalCount };
  for (let atMs = piece.fromMs; atMs < piece.toMs; ) {
    const period = periodAt(lattice, atMs);
    const toMs = Math.min(period.toMs, piece.toMs);
    yield { ownerId, price, times, period, beganMs: Math.max(period.fromMs, sinceMs), fromMs: atMs, toMs };
    atMs = toMs;
  }
}

/** As a part of its own, or as the end of the one that it continues. */
function add<P extends Price>(spans: PricedSpan<P>[], span: PricedSpan<P>): void {
  const last = spans.findLast((one) => one.ownerId === span.ownerId && one.price.key === span.price.key);
  if (last && continues(last, span)) last.toMs = span.toMs;
  else spans.push(span);
}

/** A version that was made for another reason has the same prices, as objects of its own. */
function continues(last: PricedSpan, span: PricedSpan): boolean {
  if (last.toMs !== span.fromMs || last.beganMs !== span.beganMs || last.times !== span.times) return false;
  return JSON.stringify(last.price) === JSON.stringify(span.price);
}
