import { roundedUnitsOf } from './exact-decimal.ts';
import type { UsageEvent } from './usage-event.ts';

/** Events whose acknowledgement is waited for one by one. */
const KEYS_MAX = 100_000;
const PLACES_MAX = 100_000;
/** What is acknowledged within this time is taken for acknowledged at its end, which is on the safe side. */
const STEP_MS = 50;
/** Of one place. Beyond it the last step is longer. */
const STEPS_MAX = 100;

/** A meter, and how it counts; undefined where that is not known. */
export interface MeterName {
  meterId: string;
  aggregation: string | undefined;
}

/** So many events, the sum of their values, and of those above 0, in units of 10^-12. */
interface Used {
  events: number;
  units: bigint;
  rises: bigint;
}

/** What one customer has used on one meter. */
interface Place {
  customerId: string;
  meterId: string;
  waiting: Used;
  acknowledged: Used;
  /** With the times of the first and the last acknowledgement, which rise. */
  steps: Array<Used & { fromMs: number; atMs: number }>;
}

interface Tracked {
  place: Place;
  units: bigint;
}

/**
 * What this process has tracked and no count of the server has yet, so that its own bursts are seen at once.
 * What an aggregation other than `sum` and `count` makes of it is never more. Times are those of
 * `performance.now()`.
 */
export class OwnUsage {
  private readonly places = new Map<string, Map<string, Place>>();
  private readonly byKey = new Map<string, Tracked>();
  private size = 0;

  /** The same key again is the same event. */
  tracked(key: string, { customerId, meterId, value }: UsageEvent): void {
    const units = roundedUnitsOf(value);
    if (units === undefined || this.byKey.has(key)) return;
    const place = this.placeOf(customerId, meterId);
    if (!place) return;
    add(place.waiting, used(units));
    // Beyond the bound it waits until nothing waits any more.
    if (this.byKey.size < KEYS_MAX) this.byKey.set(key, { place, units });
  }

  /** The server has counted it, or will: in what it tells from about now on. */
  acknowledged(key: string, nowMs: number): void {
    const tracked = this.byKey.get(key);
    if (!tracked) return;
    this.settle(key, tracked);
    acknowledge(tracked.place, used(tracked.units), nowMs);
  }

  /** It will never be counted. */
  rejected(key: string): void {
    const tracked = this.byKey.get(key);
    if (tracked) this.settle(key, tracked);
  }

  /** Nothing is being sent any more, nor waits for it. */
  drained(nowMs: number): void {
    if (this.size === 0) return;
    this.byKey.clear();
    for (const place of this.all()) {
      if (place.waiting.events === 0) continue;
      acknowledge(place, place.waiting, nowMs);
      place.waiting = nothing();
    }
  }

  /** Whether this customer has used anything that may not be counted. */
  has(customerId: string): boolean {
    return this.places.has(customerId);
  }

  /** Units of 10^-12. Of what was acknowledged before `countedToMs` nothing. */
  uncounted(customerId: string, { meterId, aggregation }: MeterName, countedToMs: number): bigint {
    let units = 0n;
    for (const place of this.places.get(customerId)?.values() ?? []) {
      // Of which meter an id is, is not known here: it may be of this one.
      // mutant: own-usage-by-id-not-counted
      if (place.meterId !== meterId && !place.meterId.startsWith(METER_ID)) continue;
      forget(place, countedToMs);
      units += amountOf(place.waiting, aggregation) + amountOf(place.acknowledged, aggregation);
    }
    return units;
  }

  /** Everything that was acknowledged before is counted, of all customers. */
  counted(countedToMs: number): void {
    for (const place of this.all()) {
      forget(place, countedToMs);
      if (place.waiting.events === 0 && place.steps.length === 0) this.remove(place);
    }
  }

  private settle(key: string, { place, units }: Tracked): void {
    this.byKey.delete(key);
    take(place.waiting, used(units));
  }

  private *all(): Iterable<Place> {
    for (const meters of this.places.values()) yield* meters.values();
  }

  /** Undefined when there are as many as may be. */
  private placeOf(customerId: string, meterId: string): Place | undefined {
    const known = this.places.get(customerId)?.get(meterId);
    if (known) return known;
    if (this.size >= PLACES_MAX) return undefined;
    const meters = this.places.get(customerId) ?? new Map<string, Place>();
    this.places.set(customerId, meters);
    const place = { customerId, meterId, waiting: nothing(), acknowledged: nothing(), steps: [] };
    meters.set(meterId, place);
    this.size += 1;
    return place;
  }

  private remove({ customerId, meterId }: Place): void {
    const meters = this.places.get(customerId);
    if (!meters?.delete(meterId)) return;
    this.size -= 1;
    if (meters.size === 0) this.places.delete(customerId);
  }
}

const ONE = 10n ** 12n;
/** No key of a meter begins so. */
const METER_ID = 'meter_';

/** At most so much more is counted. */
function amountOf({ events, units, rises }: Used, aggregation: string | undefined): bigint {
  if (aggregation === undefined || aggregation === 'sum') return units;
  return aggregation === 'max' || aggregation === 'latest' ? rises : BigInt(events) * ONE;
}

function nothing(): Used {
  return { events: 0, units: 0n, rises: 0n };
}

function used(units: bigint): Used {
  return { events: 1, units, rises: units > 0n ? units : 0n };
}

function add(to: Used, { events, units, rises }: Used): void {
  to.events += events;
  to.units += units;
  to.rises += rises;
}

function take(from: Used, { events, units, rises }: Used): void {
  from.events -= events;
  from.units -= units;
  from.rises -= rises;
}

function acknowledge(place: Place, more: Used, atMs: number): void {
  add(place.acknowledged, more);
  const last = place.steps.at(-1);
  if (last && (atMs - last.fromMs < STEP_MS || place.steps.length >= STEPS_MAX)) {
    add(last, more);
    last.atMs = atMs;
  } else place.steps.push({ fromMs: atMs, atMs, ...more });
}

function forget(place: Place, countedToMs: number): void {
  const { steps } = place;
  let counted = 0;
  for (const step of steps) {
    // mutant: own-usage-forgotten-early
    if (step.atMs >= countedToMs) break;
    take(place.acknowledged, step);
    counted += 1;
  }
  if (counted > 0) steps.splice(0, counted);
}
