import type { Span } from '../../../schemas/primitives/calendar.ts';
import type { Aggregation } from '../../../schemas/usage-limits.ts';

/** A customer's meter over one period. */
export interface CounterPlace {
  environment: string;
  customerId: string;
  meterKey: string;
  aggregation: Aggregation;
  span: Span;
}

/** The value of a counter, and up to when everything was counted in it. */
export interface CounterReading {
  /** Canonical decimal text. */
  current: string;
  asOfMs: number;
}

/** A cached counter. */
export interface CachedCounter {
  readonly place: CounterPlace;
  /**
   * Returns the value at once if it was requested within the last minute. Undefined: it has to be read first.
   */
  now(): CounterReading | undefined;
}

/** The time up to which everything is counted, and the loaded position. Taken before ClickHouse is read. */
export interface CountedTime {
  asOfMs: number;
  loadedTo: number | undefined;
}

export interface KeptCounter extends CachedCounter {
  reading: CounterReading | undefined;
  /** The loaded position and the cycle of that reading. */
  loadedTo: number | undefined;
  readTurn: number;
  requestedTurn: number;
  /** A statement that reads it is running. */
  underWay: Promise<void> | undefined;
  isForgotten: boolean;
}

/** The cached counters, and which of them have to be read again, in cycles. */
export interface CounterStore {
  find(place: CounterPlace): KeptCounter;
  /** A request needs this counter. */
  use(counter: KeptCounter): void;
  learn(counter: KeptCounter, current: string, time: CountedTime): void;
  /** Other usage of the environment counts than before: its counters are read in the next cycle. */
  changed(environment: string): void;
  /** ClickHouse is unavailable: keeps all values, also those that were not requested lately. */
  cannotRead(): void;
  /** Begins the next cycle: returns the counters to read, oldest first. The `asOf` of the others advances. */
  due(time: CountedTime): KeptCounter[];
}

/** A minute of cycles, if a cycle took no time. */
const WATCHED_TURNS = 120;
/** Repairs, and events that age out, change counts without a load that would notify this process. */
const REREAD_TURNS = 20;
/** Unused counters are dropped only after this, so that a short ClickHouse outage stays unnoticed. */
const KEPT_TURNS = 1_200;
/** 0.5 KB each. Beyond it the oldest entry is evicted: its next request reads it again. */
const COUNTERS_MAX = 20_000;

export function createCounterStore(): CounterStore {
  const kept = new Map<string, KeptCounter>();
  const now = { turn: 0, isUnavailable: false };

  function forget(name: string, one: KeptCounter): void {
    one.isForgotten = true;
    kept.delete(name);
  }

  function put(name: string, place: CounterPlace): KeptCounter {
    const [first] = kept.size >= COUNTERS_MAX ? kept : [];
    if (first) forget(...first);
    const made = keptCounter(place, now);
    kept.set(name, made);
    return made;
  }

  return {
    find(place) {
      const name = nameOf(place);
      return kept.get(name) ?? put(name, place);
    },
    use(counter) {
      counter.requestedTurn = now.turn;
    },
    learn(counter, current, { asOfMs, loadedTo }) {
      now.isUnavailable = false;
      Object.assign(counter, { reading: { current, asOfMs }, loadedTo, readTurn: now.turn });
    },
    changed(environment) {
      for (const one of kept.values())
        if (one.place.environment === environment) one.readTurn = -REREAD_TURNS;
    },
    cannotRead() {
      now.isUnavailable = true;
    },
    due({ asOfMs, loadedTo }) {
      now.turn += 1;
      const due: KeptCounter[] = [];
      for (const [name, one] of kept) {
        if (one.requestedTurn <= now.turn - KEPT_TURNS) forget(name, one);
        notAhead(one, asOfMs);
        if (one.requestedTurn <= now.turn - WATCHED_TURNS || !one.reading || one.underWay) continue;
        const isSame = one.loadedTo === loadedTo && one.readTurn > now.turn - REREAD_TURNS;
        if (isSame && !now.isUnavailable) one.reading = { current: one.reading.current, asOfMs };
        else due.push(one);
      }
      return due.sort((a, b) => a.readTurn - b.readTurn);
    },
  };
}

/** A reading from before the clock was set back does not include what was acknowledged since. */
function notAhead(one: KeptCounter, asOfMs: number): void {
  if (one.reading && one.reading.asOfMs > asOfMs) one.reading = { current: one.reading.current, asOfMs };
}

function keptCounter(place: CounterPlace, cache: { turn: number; isUnavailable: boolean }): KeptCounter {
  const made: KeptCounter = {
    place,
    reading: undefined,
    loadedTo: undefined,
    readTurn: 0,
    requestedTurn: cache.turn,
    underWay: undefined,
    isForgotten: false,
    now() {
      const isKeptFresh = made.requestedTurn > cache.turn - WATCHED_TURNS || cache.isUnavailable;
      if (made.isForgotten || !isKeptFresh) return undefined;
      made.requestedTurn = cache.turn;
      return made.reading;
    },
  };
  return made;
}

function nameOf({ environment, customerId, meterKey, aggregation, span }: CounterPlace): string {
  return `${environment} ${customerId} ${meterKey} ${aggregation} ${span.fromMs} ${span.toMs}`;
}
