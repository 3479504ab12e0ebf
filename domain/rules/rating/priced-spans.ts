import type { Span } from '../../../schemas/primitives/calendar.ts';
import { cut } from '../billed-periods.ts';
import { type BillingCycle, periodAt, termPeriodAt } from '../billing-period.ts';
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
  /** The billing period in which it begins, where that is none of the lattice. */
  period: Span | null;
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
  /** With the `minimum` that its period began with. */
  price: P;
  /** How many units of a flat price its period has had before this part, and up to its end. */
  quantity: { before: number; until: number };
  /** The price's own period. */
  period: Span;
  /** The parts of the period before this one in which it was charged: their usage is used already. */
  earlier: readonly Span[];
  /** Of these the first ones, up to the last in which the price had other amounts. */
  changed: readonly Span[];
}

/**
 * What a subscription is charged for in a span, without proration. A price is charged from the beginning of
 * each of its periods, once in each; where they are as long as the billing periods they are these. One that
 * begins within a period is charged as a whole, and counts usage from there on. One that comes back after a
 * gap goes on where it ended, and so does one that is changed: what was charged stays, and only what comes
 * later is charged the new amounts. What does not depend on usage is not charged again, so a period keeps the
 * `minimum` that it began with. Units that are added to a quantity are charged as a whole. Nothing is given
 * back for what ends within a period.
 *
 * `terms` and `sets` are in the order of time, sets of one time in that of their versions. Ends once there
 * are more than `spansMax`.
 */
export function pricedSpans<P extends Price>(
  terms: readonly PricedTerm[],
  sets: readonly PriceSet<P>[],
  { fromMs, toMs, spansMax = Number.POSITIVE_INFINITY }: Span & { spansMax?: number },
): PricedSpan<P>[] {
  const firstMs = terms[0]?.startsMs ?? toMs;
  if (firstMs >= toMs) return [];
  const times = [...terms, ...sets].map(({ startsMs }) => startsMs).concat(fromMs);
  const ascending = [...new Set(times)].sort((a, b) => a - b);
  const chosenAt = createChoice(terms, sets);
  const stretches = new Map<string, Stretch[]>();
  const spans = new Map<string, PricedSpan<P>[]>();
  let left = spansMax;
  for (const piece of cut({ fromMs: firstMs, toMs }, ascending)) {
    for (const chosen of chosenAt(piece.fromMs)) {
      const past = listOf(stretches, chosen.id);
      const found = piece.fromMs < fromMs ? [] : partsOf(chosen, piece, past);
      for (const span of found) {
        if (left < 0) return [...spans.values()].flat();
        if (add(listOf(spans, chosen.id), span)) left -= 1;
      }
      extend(past, { ...piece, units: chosen.units, price: chosen.price });
    }
  }
  return [...spans.values()].flat().sort((a, b) => a.fromMs - b.fromMs);
}

/** One price of a term, in so many units. */
interface Chosen<P extends Price> {
  id: string;
  ownerId: string;
  price: P;
  term: PricedTerm;
  units: number;
}

/** A time in which a price was charged, in so many units. */
interface Stretch extends Span {
  units: number;
  price: Price;
}

/** What is charged at a time, for ascending times. */
function createChoice<P extends Price>(terms: readonly PricedTerm[], sets: readonly PriceSet<P>[]) {
  const setAt = createSetAt(sets);
  let next = 0;
  return (atMs: number): Chosen<P>[] => {
    while ((terms[next]?.startsMs ?? Number.POSITIVE_INFINITY) <= atMs) next += 1;
    const term = terms[next - 1];
    if (!term?.isCharged) return [];
    const { planId, planVersion, addons, cycle } = term;
    const owners = [
      { ownerId: planId, version: planVersion, quantity: 1 },
      ...addons.map(({ addonId, quantity }) => ({ ownerId: addonId, version: null, quantity })),
    ];
    return owners.flatMap(({ ownerId, version, quantity }) =>
      variantsFor(setAt(atMs, ownerId, version)?.prices ?? [], cycle).map((price): Chosen<P> => {
        const { key, currency, interval, intervalCount, model } = price;
        const id = [ownerId, key, currency, interval, intervalCount].join(' ');
        return { id, ownerId, price, term, units: model === 'flat' ? quantity : 1 };
      }),
    );
  };
}

/**
 * The set that holds at a time, for ascending times. A subscription may be pinned from before its version had
 * prices, as it may begin in the past: then the version's first ones hold.
 */
function createSetAt<P extends Price>(sets: readonly PriceSet<P>[]) {
  const ofOwner = new Map<string, PriceSet<P>>();
  const ofVersion = new Map<string, PriceSet<P>>();
  const versionOf = (ownerId: string, version: number | null) => `${ownerId} ${version}`;
  for (const set of [...sets].reverse()) ofVersion.set(versionOf(set.ownerId, set.version), set);
  let next = 0;
  return (atMs: number, ownerId: string, version: number | null): PriceSet<P> | undefined => {
    for (let set = sets[next]; set && set.startsMs <= atMs; set = sets[next]) {
      ofOwner.set(set.ownerId, set);
      ofVersion.set(versionOf(set.ownerId, set.version), set);
      next += 1;
    }
    return version === null ? ofOwner.get(ownerId) : ofVersion.get(versionOf(ownerId, version));
  };
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

function rank(price: Price, cycle: BillingCycle): number {
  return isOwn(price, cycle) ? 0 : DAYS[price.interval] * price.intervalCount;
}

/** Whether its periods are the billing periods. */
function isOwn({ interval, intervalCount }: Price, cycle: BillingCycle): boolean {
  const isSame = interval === cycle.interval && intervalCount === cycle.intervalCount;
  return isSame && cycle.legacyIntervalMs === undefined;
}

/** A piece of time in which a price is charged, by its periods. */
function* partsOf<P extends Price>(
  { ownerId, price, term: { cycle, period: exception }, units }: Chosen<P>,
  piece: Span,
  past: readonly Stretch[],
): Generator<PricedSpan<P>> {
  const { interval, intervalCount } = price;
  const lattice = { anchorMs: cycle.anchorMs, interval, intervalCount };
  const recorded = exception && isOwn(price, cycle) ? exception : undefined;
  for (let atMs = piece.fromMs; atMs < piece.toMs; ) {
    const period = recorded ? termPeriodAt({ cycle, period: recorded }, atMs) : periodAt(lattice, atMs);
    const toMs = Math.min(period.toMs, piece.toMs);
    const before = past.slice(past.findLastIndex((one) => one.toMs <= period.fromMs) + 1);
    const earlier = before.map((one) => ({ fromMs: Math.max(one.fromMs, period.fromMs), toMs: one.toMs }));
    const begun = before.reduce((most, one) => Math.max(most, one.units), 0);
    const quantity = { before: begun, until: Math.max(begun, units) };
    const { minimum } = before[0]?.price ?? price;
    const begunWith = minimum === price.minimum ? price : withMinimum(price, minimum);
    const changed = earlier.slice(0, before.findLastIndex((one) => !hasSameAmounts(one.price, price)) + 1);
    yield { ownerId, price: begunWith, quantity, period, earlier, changed, fromMs: atMs, toMs };
    atMs = toMs;
  }
}

function withMinimum<P extends Price>({ minimum: own, ...price }: P, minimum: string | undefined): P {
  return (minimum === undefined ? price : { ...price, minimum }) as P;
}

/** As a stretch of its own, or as the end of the one that it continues. */
function extend(past: Stretch[], piece: Stretch): void {
  const last = past.at(-1);
  const continued =
    last?.toMs === piece.fromMs && last.units === piece.units && isSame(last.price, piece.price);
  if (continued) last.toMs = piece.toMs;
  else past.push(piece);
}

/** As a part of its own (true), or as the end of the one that it continues. */
function add<P extends Price>(spans: PricedSpan<P>[], span: PricedSpan<P>): boolean {
  const last = spans.at(-1);
  if (last && continues(last, span)) {
    last.toMs = span.toMs;
    return false;
  }
  spans.push(span);
  return true;
}

/** A version that was made for another reason has the same prices, as objects of its own. */
function continues(last: PricedSpan, span: PricedSpan): boolean {
  if (last.toMs !== span.fromMs || last.period.fromMs !== span.period.fromMs) return false;
  // The lattice may have another anchor from there on.
  if (last.period.toMs !== span.period.toMs) return false;
  if (span.price.model === 'flat' && span.quantity.until > span.quantity.before) return false;
  return isSame(last.price, span.price);
}

function isSame(a: Price, b: Price): boolean {
  if (a === b) return true;
  return hasSameAmounts(a, b) && a.minimum === b.minimum && descriptionOf(a) === descriptionOf(b);
}

/**
 * Another minimum holds from the next period on and changes nothing in this one; another description changes
 * nothing at all.
 */
function hasSameAmounts(a: Price, b: Price): boolean {
  return a === b || amountsOf(a) === amountsOf(b);
}

/** By price: histories compare each one with many. */
const amountTexts = new WeakMap<Price, string>();

function amountsOf(price: Price): string {
  const known = amountTexts.get(price);
  if (known !== undefined) return known;
  const { minimum, description, ...amounts } = price as DescribedPrice;
  const text = JSON.stringify(amounts);
  amountTexts.set(price, text);
  return text;
}

/** A stored price may say in words what it is for. */
type DescribedPrice = Price & { description?: string };

function descriptionOf({ description }: DescribedPrice): string | undefined {
  return description;
}

function listOf<T>(lists: Map<string, T[]>, id: string): T[] {
  const list = lists.get(id) ?? [];
  lists.set(id, list);
  return list;
}
