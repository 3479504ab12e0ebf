import { unitsOf } from './exact-decimal.ts';
import type { UsageEvent } from './usage-event.ts';

/** Events whose acknowledgement is waited for one by one. */
const KEYS_MAX = 100_000;
const PLACES_MAX = 100_000;
/** What is acknowledged within this time is taken for acknowledged at its end, which is on the safe side. */
const STEP_MS = 50;
/** Of one place. Beyond it the last step is longer. */
const STEPS_MAX = 100;

/** What one customer has used on one meter, in units of 10^-12. */
interface Place {
  customerId: string;
  meterId: string;
  waiting: bigint;
  waitingEvents: number;
  acknowledged: bigint;
  /** With the times of the first and the last acknowledgement, which rise. */
  steps: Array<{ fromMs: number; atMs: number; units: bigint }>;
}

interface Tracked {
  place: Place;
  units: bigint;
}

/**
 * What this process has tracked and no count of the server has yet, so that its own bursts are seen at once.
 * Values are added up, as a `sum` meter does. Times are those of `performance.now()`.
 */
export class OwnUsage {
  private readonly places = new Map<string, Map<string, Place>>();
  private readonly byKey = new Map<string, Tracked>();
  private size = 0;

  /** The same key again is the same event. */
  tracked(key: string, { customerId, meterId, value }: UsageEvent): void {
    const units = unitsOf(value);
    if (units === undefined || this.byKey.has(key)) return;
    const place = this.placeOf(customerId, meterId);
    if (!place) return;
    place.waiting += units;
    place.waitingEvents += 1;
    // Beyond the bound it waits until nothing waits any more.
    if (this.byKey.size < KEYS_MAX) this.byKey.set(key, { place, units });
  }

  /** The server has counted it, or will: in what it tells from about now on. */
  acknowledged(key: string, nowMs: number): void {
    const tracked = this.byKey.get(key);
    if (!tracked) return;
    this.settle(key, tracked);
    acknowledge(tracked.place, tracked.units, nowMs);
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
      if (place.waitingEvents === 0) continue;
      acknowledge(place, place.waiting, nowMs);
      place.waiting = 0n;
      place.waitingEvents = 0;
    }
  }

  /** Whether this customer has used anything that may not be counted. */
  has(customerId: string): boolean {
    return this.places.has(customerId);
  }

  /** Units of 10^-12. Of what was acknowledged before `countedToMs` nothing. */
  uncounted(customerId: string, meterId: string, countedToMs: number): bigint {
    const place = this.places.get(customerId)?.get(meterId);
    if (!place) return 0n;
    forget(place, countedToMs);
    return place.waiting + place.acknowledged;
  }

  /** Everything that was acknowledged before is counted, of all customers. */
  counted(countedToMs: number): void {
    for (const place of this.all()) {
      forget(place, countedToMs);
      if (place.waitingEvents === 0 && place.steps.length === 0) this.remove(place);
    }
  }

  private settle(key: string, { place, units }: Tracked): void {
    this.byKey.delete(key);
    place.waiting -= units;
    place.waitingEvents -= 1;
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
    const place = { customerId, meterId, waiting: 0n, waitingEvents: 0, acknowledged: 0n, steps: [] };
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

function acknowledge(place: Place, units: bigint, atMs: number): void {
  place.acknowledged += units;
  const last = place.steps.at(-1);
  if (last && (atMs - last.fromMs < STEP_MS || place.steps.length >= STEPS_MAX)) {
    last.units += units;
    last.atMs = atMs;
  } else place.steps.push({ fromMs: atMs, atMs, units });
}

function forget(place: Place, countedToMs: number): void {
  const { steps } = place;
  let counted = 0;
  for (const { atMs, units } of steps) {
    // mutant: own-usage-forgotten-early
    if (atMs >= countedToMs) break;
    place.acknowledged -= units;
    counted += 1;
  }
  if (counted > 0) steps.splice(0, counted);
}
