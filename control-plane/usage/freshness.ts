import type { Logger } from 'pino';
import type { LoadedThrough } from '../../schemas/stored/channels.ts';
import type { Repairs } from '../store/repairs.ts';
import { createProgress, type Lag, type Loaded, type ProgressDeps } from './progress.ts';
import type { UsageViews } from './usage-views.ts';
import { createWaitingReads, type Wait } from './waiting-reads.ts';

/**
 * How far counting has come, compared with what was acknowledged.
 *
 * Two positions of the log matter: its durable end (everything acknowledged is before it) and the loaded
 * position (everything before it is in the warehouse). A read that must see what was acknowledged before it
 * takes the durable end at its arrival and waits until the loaded position has reached it.
 *
 * `asOf` is a time for which this is true: everything acknowledged before it is counted. It comes from
 * samples "at this time this was the durable end": the latest sample whose end is loaded.
 *
 * The loaded position comes by NOTIFY; a poll is the fallback (a notification may be lost with its session).
 */
export interface Freshness {
  /** The durable end now. Throws Transient until the log and Postgres were read for the first time. */
  arrive(): Promise<number>;
  /**
   * True once everything before `end` is counted, false when `withinMs` is over. Requests a load meanwhile.
   * Throws Rejected `overloaded` when too many of its environment wait.
   */
  reached(end: number, wait: Wait): Promise<boolean>;
  /** While a repair is open the counts may be incomplete: a response would be wrong without a sign of it. */
  repairs(): Promise<Repairs>;
  /** Which changes of usage a read counts. Take it after {@link reached}. */
  views: UsageViews;
  /** Milliseconds since 1970. Call it before the warehouse is read, never after. */
  asOfMs(): number;
  /** Everything before this position is counted; undefined before the first read. */
  loadedTo(): number | undefined;
  loaded(notification: LoadedThrough): void;
  /** Notifications may have been missed. */
  newSession(): void;
  lag(): Lag;
  close(): void;
}

export interface FreshnessDeps extends ProgressDeps {
  /** Hex, as in LoadedThrough: notifications of another log are ignored. */
  logId: string;
  /** The last range that is loaded; undefined before the first. */
  readLoaded(): Promise<Loaded | undefined>;
  /** The progress that a notification of this log reports; left out if the log has one partition. */
  loadedBy?(notification: LoadedThrough): Loaded;
  /** Wakes the aggregator. */
  requestLoad(): Promise<void>;
  repairs(): Promise<Repairs>;
  views: UsageViews;
  log: Logger;
}

/** How often the log's end and Postgres are read: Postgres less often while no read waits. */
const LOOK_EVERY_MS = 100;
const POLL_EVERY_MS = 1_000;
const POLL_WHILE_WAITING_MS = 200;

export function createFreshness(deps: FreshnessDeps): Freshness {
  const { clock, log } = deps;
  const progress = createProgress(deps);
  const reads = createWaitingReads();
  const requests = createLoadRequests(deps);
  let polledAtMs = Number.NEGATIVE_INFINITY;

  function advance(to: Loaded): void {
    progress.advance(to);
    reads.reached(progress.loadedTo() ?? 0);
  }

  async function poll(): Promise<void> {
    polledAtMs = clock.monotonicMs();
    advance((await deps.readLoaded()) ?? { hi: 0, throughMs: 0 });
  }

  async function look(): Promise<void> {
    await progress.look();
    const everyMs = reads.isEmpty() ? POLL_EVERY_MS : POLL_WHILE_WAITING_MS;
    if (clock.monotonicMs() - polledAtMs >= everyMs) await poll();
    if (!reads.isEmpty()) requests.request();
  }

  const stopLooking = repeat(look, (err) =>
    log.debug({ err }, 'cannot read the durable end or the loaded position'),
  );
  return {
    async arrive() {
      if (progress.loadedTo() === undefined) await poll();
      return progress.look();
    },
    async reached(end, wait) {
      if (end <= (progress.loadedTo() ?? -1)) return true;
      requests.request();
      return reads.wait(end, wait);
    },
    repairs: deps.repairs,
    views: deps.views,
    asOfMs: progress.asOfMs,
    loadedTo: progress.loadedTo,
    loaded(notification) {
      if (notification.logId !== deps.logId) return;
      if (deps.loadedBy) advance(deps.loadedBy(notification));
      else if (notification.partition === 0) advance(notification);
    },
    newSession() {
      polledAtMs = Number.NEGATIVE_INFINITY;
    },
    lag: progress.lag,
    close() {
      stopLooking();
      requests.close();
      reads.close();
    },
  };
}

/** Combines the wake-ups of many readers into one. */
const ASK_EVERY_MS = 5;

function createLoadRequests({ requestLoad, log }: Pick<FreshnessDeps, 'requestLoad' | 'log'>) {
  let timer: NodeJS.Timeout | undefined;
  return {
    request() {
      timer ??= setTimeout(() => {
        timer = undefined;
        requestLoad().catch((err: unknown) => log.debug({ err }, 'cannot request a load'));
      }, ASK_EVERY_MS);
    },
    close: () => clearTimeout(timer),
  };
}

/** One run at a time. Returns a function that stops it. */
function repeat(look: () => Promise<void>, onFailure: (error: unknown) => void): () => void {
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch(onFailure)
      .finally(() => {
        isLooking = false;
      });
  }, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}
