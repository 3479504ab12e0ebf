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

/** Where a counter stood, and up to when everything was counted then. */
export interface CounterReading {
  /** Canonical decimal text. */
  current: string;
  asOfMs: number;
}

/** A counter in memory. */
export interface RememberedCounter {
  readonly place: CounterPlace;
  /** At once, of one that was asked for within the last minute. Undefined: it has to be read first. */
  now(): CounterReading | undefined;
}

/** Up to when everything is counted, and the loaded position. Asked before ClickHouse is. */
export interface CountedTime {
  asOfMs: number;
  loadedTo: number | undefined;
}

export interface KeptCounter extends RememberedCounter {
  reading: CounterReading | undefined;
  /** The loaded position and the turn of that reading. */
  loadedTo: number | undefined;
  readTurn: number;
  requestedTurn: number;
  /** A question reads it. */
  underWay: Promise<void> | undefined;
  isForgotten: boolean;
}

/** The counters that are remembered, and which of them have to be read again; in turns. */
export interface CounterCache {
  find(place: CounterPlace): KeptCounter;
  /** Somebody wants to know. */
  ask(counter: KeptCounter): void;
  learn(counter: KeptCounter, current: string, time: CountedTime): void;
  /** ClickHouse does not answer: what is known stands, also of those that nobody asked for lately. */
  cannotRead(): void;
  /** Begins the next turn: those that have to be read, oldest first. Of the others the moment moves on. */
  due(time: CountedTime): KeptCounter[];
}

/** A minute of turns that take no time. */
const WATCHED_TURNS = 120;
/** What is repaired, or given up with its age, is no load that anybody would hear of. */
const REREAD_TURNS = 20;
/** Where nobody asks it is forgotten, but not so soon that a ClickHouse that is away would be felt. */
const KEPT_TURNS = 1_200;
/** 0.5 KB each. Beyond it the one that came first is forgotten: its next question reads it again. */
const COUNTERS_MAX = 20_000;

export function createCounterCache(): CounterCache {
  const kept = new Map<string, KeptCounter>();
  const now = { turn: 0, isAway: false };

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
    ask(counter) {
      counter.requestedTurn = now.turn;
    },
    learn(counter, current, { asOfMs, loadedTo }) {
      now.isAway = false;
      Object.assign(counter, { reading: { current, asOfMs }, loadedTo, readTurn: now.turn });
    },
    cannotRead() {
      now.isAway = true;
    },
    due({ asOfMs, loadedTo }) {
      now.turn += 1;
      const due: KeptCounter[] = [];
      for (const [name, one] of kept) {
        if (one.requestedTurn <= now.turn - KEPT_TURNS) forget(name, one);
        notAhead(one, asOfMs);
        if (one.requestedTurn <= now.turn - WATCHED_TURNS || !one.reading || one.underWay) continue;
        const isSame = one.loadedTo === loadedTo && one.readTurn > now.turn - REREAD_TURNS;
        if (isSame && !now.isAway) one.reading = { current: one.reading.current, asOfMs };
        else due.push(one);
      }
      return due.sort((a, b) => a.readTurn - b.readTurn);
    },
  };
}

/** A reading from before the clock was set back holds nothing of what is acknowledged since. */
function notAhead(one: KeptCounter, asOfMs: number): void {
  if (one.reading && one.reading.asOfMs > asOfMs) one.reading = { current: one.reading.current, asOfMs };
}

function keptCounter(place: CounterPlace, cache: { turn: number; isAway: boolean }): KeptCounter {
  const made: KeptCounter = {
    place,
    reading: undefined,
    loadedTo: undefined,
    readTurn: 0,
    requestedTurn: cache.turn,
    underWay: undefined,
    isForgotten: false,
    now() {
      const isKeptFresh = made.requestedTurn > cache.turn - WATCHED_TURNS || cache.isAway;
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
