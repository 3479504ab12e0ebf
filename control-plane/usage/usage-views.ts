import type { Pool } from 'pg';
import {
  NO_CHANGES,
  readClosingChanges,
  readUsageViews,
  type UsageView,
} from '../../domain/store/usage-views.ts';
import { inTime } from '../../infra/platform/circuit-breaker.ts';
import { poll } from '../../infra/platform/poll.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import { Rejected, Transient } from '../../schemas/failures.ts';
import type { ReadTime } from './read-time.ts';

/** The views of environments, cached: which changes of their usage a reader counts. */
export interface UsageViews {
  /**
   * Some seconds old at most, and up to ten minutes while Postgres is unavailable: what it counts is whole
   * all the same. Throws Transient.
   */
  of(environment: string): Promise<UsageView>;
  /**
   * Of now, with every change whose records were all on the log before the call. Throws Rejected
   * `unavailable` where one of them does not become visible in the reader's time, and Transient.
   */
  fresh(environment: string, time: ReadTime): Promise<UsageView>;
  invalidate(environment: string): void;
  /** Notifications may have been missed. */
  clear(): void;
}

export interface UsageViewsDeps {
  pool: Pool;
  clock: Pick<Clock, 'monotonicMs'>;
}

interface Entry {
  view: UsageView;
  readAtMs: number;
  /** A later change was notified: it is read again, and used only while Postgres is unavailable. */
  isOld: boolean;
}

/** 100 bytes each, about. Beyond them the one that was read longest ago is forgotten. */
const ENTRIES_MAX = 20_000;
/** NOTIFY brings a change; reading again is the safety net. */
const REREAD_AFTER_MS = 5_000;
/** While Postgres is unavailable nothing can change; a process that is cut off from it may miss changes. */
const STALE_MS_MAX = 600_000;
/** A Postgres that hangs fails after 12 s. */
const PATIENCE_MS = 1_000;
const LOOK_EVERY_MS = 20;

export function createUsageViews({ pool, clock }: UsageViewsDeps): UsageViews {
  const entries = new Map<string, Entry>();
  const underWay = new Map<string, Promise<UsageView>>();
  let generation = 0;

  async function read(environment: string): Promise<UsageView> {
    const begun = { generation, readAtMs: clock.monotonicMs() };
    const view = (await readUsageViews(pool, [environment])).get(environment) ?? NO_CHANGES;
    // What was notified meanwhile may be missing from it.
    const isOld = begun.generation !== generation;
    entries.delete(environment);
    entries.set(environment, { view, readAtMs: begun.readAtMs, isOld });
    const [oldest] = entries.keys();
    if (entries.size > ENTRIES_MAX && oldest !== undefined) entries.delete(oldest);
    return view;
  }

  function readOnce(environment: string): Promise<UsageView> {
    const running = underWay.get(environment);
    if (running) return running;
    const begun = read(environment).finally(() => {
      if (underWay.get(environment) === begun) underWay.delete(environment);
    });
    underWay.set(environment, begun);
    return begun;
  }

  return {
    async of(environment) {
      const entry = entries.get(environment);
      const ageMs = entry ? clock.monotonicMs() - entry.readAtMs : Number.POSITIVE_INFINITY;
      if (entry && !entry.isOld && ageMs < REREAD_AFTER_MS) return entry.view;
      try {
        return await inTime(readOnce(environment), PATIENCE_MS);
      } catch (error) {
        if (entry && ageMs < STALE_MS_MAX && error instanceof Transient) return entry.view;
        throw error;
      }
    },
    async fresh(environment, time) {
      const view = await time.within(read(environment));
      if (view.hidden.length === 0) return view;
      // mutant: closing-change-left-out
      const wasClosing = await untilVisible(pool, environment, time);
      return wasClosing ? time.within(read(environment)) : view;
    },
    invalidate(environment) {
      generation += 1;
      underWay.delete(environment);
      const entry = entries.get(environment);
      if (entry) entry.isOld = true;
    },
    clear() {
      generation += 1;
      underWay.clear();
      for (const entry of entries.values()) entry.isOld = true;
    },
  };
}

/** Waits for the changes that are closing now; false without any. Throws Rejected `unavailable`. */
async function untilVisible(pool: Pool, environment: string, time: ReadTime): Promise<boolean> {
  const closing = new Set(await time.within(readClosingChanges(pool, environment)));
  if (closing.size === 0) return false;
  const isOver = async () => {
    const left = await time.within(readClosingChanges(pool, environment));
    return left.some((number) => closing.has(number)) ? undefined : true;
  };
  if (await poll(isOver, { timeoutMs: time.leftMs(), everyMs: LOOK_EVERY_MS })) return true;
  const message = 'A correction that was made before this request does not count yet. Retry the request.';
  throw new Rejected('unavailable', message);
}
