import type { Logger } from 'pino';
import type { Clock } from '../../infra/ports/clock.ts';
import type { LoadedNote } from '../../schemas/channels.ts';
import { Rejected } from '../../schemas/failures.ts';
import { createDurableSamples } from './durable-samples.ts';

/**
 * How far counting has come, compared with what was acknowledged.
 *
 * Two positions of the log matter: its durable end (everything acknowledged is before it) and the loaded position
 * (everything before it is in the warehouse). A read that must see what was acknowledged before it takes the
 * durable end at its arrival and waits until the loaded position has reached it.
 *
 * `asOf` is a moment, and true of it is: everything acknowledged before it is counted. It comes from samples "at
 * this time the durable end was there": the latest sample whose end is loaded. The time of a sample is taken
 * before its end is read, so an acknowledgement before that time cannot be beyond that end.
 *
 * The loaded position comes by NOTIFY; a poll is the net (a note may be lost with its session).
 */
export interface Freshness {
  /** The durable end now. Throws Transient while neither log nor Postgres can be asked for the first time. */
  arrive(): Promise<number>;
  /** True once everything before `end` is counted, false when `withinMs` is over. Asks for a load meanwhile. */
  reached(end: number, withinMs: number): Promise<boolean>;
  /** Milliseconds since 1970. Ask for it before the warehouse, never after. */
  asOfMs(): number;
  heard(note: LoadedNote): void;
  /** Notes may have been missed. */
  newSession(): void;
  lag(): Lag;
  close(): void;
}

export interface Lag {
  bytes: number;
  seconds: number;
}

export interface Loaded {
  hi: number;
  throughMs: number;
}

export interface FreshnessDeps {
  /** Hex, as in LoadedNote: notes of another log are none of ours. */
  logId: string;
  durableEnd(): Promise<number>;
  /** The last range that is loaded; undefined before the first. */
  readLoaded(): Promise<Loaded | undefined>;
  /** Wakes the aggregator. */
  askForLoad(): Promise<void>;
  clock: Clock;
  log: Logger;
}

/** How often the log is looked at, and Postgres: less often while nobody waits. */
const SAMPLE_EVERY_MS = 100;
const POLL_EVERY_MS = 1_000;
const POLL_WHILE_WAITING_MS = 200;
/** Wake-ups of many readers at once become one. */
const ASK_EVERY_MS = 5;
/** Reads that wait; the next one is refused. */
const WAITING_MAX = 1_000;

interface Waiter {
  end: number;
  settle(isReached: boolean): void;
}

export function createFreshness(deps: FreshnessDeps): Freshness {
  const { clock, log } = deps;
  const samples = createDurableSamples();
  const waiters = new Set<Waiter>();
  let loaded: Loaded | undefined;
  let durable = 0;
  let polledAtMs = Number.NEGATIVE_INFINITY;
  let ticking = false;
  let asking: NodeJS.Timeout | undefined;

  async function sample(): Promise<number> {
    const atMs = clock.nowMs();
    const end = await deps.durableEnd();
    samples.add({ atMs, end });
    durable = Math.max(durable, end);
    return end;
  }

  function advance(to: Loaded): void {
    loaded = {
      hi: Math.max(loaded?.hi ?? 0, to.hi),
      throughMs: Math.max(loaded?.throughMs ?? 0, to.throughMs),
    };
    samples.loaded(loaded.hi);
    for (const waiter of waiters) if (waiter.end <= loaded.hi) waiter.settle(true);
  }

  async function poll(): Promise<void> {
    polledAtMs = clock.monotonicMs();
    advance((await deps.readLoaded()) ?? { hi: 0, throughMs: 0 });
  }

  async function tick(): Promise<void> {
    if (ticking) return;
    ticking = true;
    try {
      await sample();
      const everyMs = waiters.size > 0 ? POLL_WHILE_WAITING_MS : POLL_EVERY_MS;
      if (clock.monotonicMs() - polledAtMs >= everyMs) await poll();
      if (waiters.size > 0) ask();
    } catch (err) {
      log.debug({ err }, 'cannot see how far counting has come');
    } finally {
      ticking = false;
    }
  }

  function ask(): void {
    asking ??= setTimeout(() => {
      asking = undefined;
      deps.askForLoad().catch((err: unknown) => log.debug({ err }, 'cannot ask for a load'));
    }, ASK_EVERY_MS);
  }

  function wait(end: number, withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isReached: boolean) => {
        clearTimeout(timer);
        waiters.delete(waiter);
        resolve(isReached);
      };
      const waiter = { end, settle };
      const timer = setTimeout(() => settle(false), withinMs);
      waiters.add(waiter);
    });
  }

  function asOfMs(): number {
    return Math.max(samples.latestLoadedMs() ?? 0, loaded?.throughMs ?? 0);
  }

  const timer = setInterval(() => void tick(), SAMPLE_EVERY_MS);
  return {
    async arrive() {
      if (!loaded) await poll();
      return sample();
    },
    async reached(end, withinMs) {
      if (loaded && end <= loaded.hi) return true;
      if (waiters.size >= WAITING_MAX) throw new Rejected('overloaded', 'Too many reads wait; ask again.');
      ask();
      return wait(end, withinMs);
    },
    asOfMs,
    heard(note) {
      if (note.logId === deps.logId && note.partition === 0) advance(note);
    },
    newSession() {
      polledAtMs = Number.NEGATIVE_INFINITY;
    },
    lag() {
      const bytes = Math.max(0, durable - (loaded?.hi ?? 0));
      return { bytes, seconds: bytes === 0 ? 0 : Math.max(0, (clock.nowMs() - asOfMs()) / 1000) };
    },
    close() {
      clearInterval(timer);
      clearTimeout(asking);
      for (const waiter of waiters) waiter.settle(false);
    },
  };
}
