import type { Logger } from 'pino';
import { createWakeup } from '../../infra/platform/wakeup.ts';
import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import type { Lease } from '../load/lease.ts';
import type { AggregatorMetrics } from '../metrics.ts';
import { visibleChanges } from '../store/loaded-changes.ts';
import type { Range } from '../store/ranges.ts';
import { markedCustomerMeters } from './marked-customer-meters.ts';
import { createRecentCustomerMeters, type RecentCustomerMeters } from './recent-customer-meters.ts';
import { type BatchDeps, settleBatch } from './settle-batch.ts';
import { changesIn, mergeCustomerMeter, nameOf, watchedCustomerMeters } from './touched-customer-meters.ts';
import { dueLevels } from './usage-levels.ts';

/**
 * Settles what is loaded, concurrently with the load. It takes all waiting ranges at once, so that a customer
 * meter that is used repeatedly is settled once.
 */
export interface Settler {
  /**
   * A loaded range with what its frames have touched. Waits while too much is before it. Throws as `check`,
   * and Transient.
   */
  add(range: Range, touched: TouchedCustomerMeter[][]): Promise<void>;
  /** Does this once, as soon as all that was added before is settled. What it throws, `check` throws. */
  onceSettled(work: () => Promise<void>): void;
  /** Throws what settling has failed with: nothing more is settled, and the ranges stay loaded. */
  check(): void;
  /** Ends after the running batch. */
  close(): Promise<void>;
}

export interface SettlerDeps extends BatchDeps {
  log: Logger;
  metrics: AggregatorMetrics;
}

/**
 * Loaded and not settled; beyond it the load waits. A customer meter counts once, however many ranges touch
 * it, and only where it may have something to settle: 100,000 customers with a limit never hold the load up.
 * A single range may have more. A restart reads the waiting ranges again: 256 are some gigabytes of the log.
 */
const WAITING_MAX = { ranges: 256, customerMeters: 500_000 };
/** How often marks are looked for while nothing is loaded. */
const IDLE_MS = 500;
/** Settling takes a third of the time, unless a single settlement takes long. */
const PAUSE = { times: 2, msMax: 1_500 };

/** In order; customer meters by their names. */
interface Loaded {
  ranges: Range[];
  touched: Map<string, TouchedCustomerMeter>;
}

export function startSettler(deps: SettlerDeps, lease: Lease): Settler {
  const { clock, metrics, log } = deps;
  const recent = createRecentCustomerMeters();
  const [work, capacity, end] = [createWakeup(), createWakeup(), createWakeup()];
  const queue = createQueue();
  let isClosing = false;
  let failure: { error: unknown } | undefined;
  let whenSettled: (() => Promise<void>) | undefined;

  async function settleWaiting(): Promise<void> {
    const loaded = queue.take();
    const then = whenSettled;
    await settleLoaded(deps, lease, { loaded, recent });
    queue.taken();
    capacity.wake();
    if (!then) return;
    whenSettled = undefined;
    await then();
  }

  async function keepSettling(): Promise<void> {
    while (!isClosing) {
      const startedAtMs = clock.monotonicMs();
      await settleWaiting();
      const tookMs = clock.monotonicMs() - startedAtMs;
      metrics.settling(tookMs / 1000, queue.ranges());
      await end.wait(Math.min(tookMs * PAUSE.times, PAUSE.msMax));
      if (queue.ranges() === 0) await work.wait(IDLE_MS);
    }
  }

  function check(): void {
    if (failure) throw failure.error;
  }

  const running = keepSettling().catch((error: unknown) => {
    failure = { error };
    log.warn({ err: error, waiting: queue.ranges() }, 'settling has failed: the load restarts it');
    capacity.wake();
  });
  return {
    check,
    async add(range, frames) {
      while (queue.isFull() && !failure && !isClosing) await capacity.wait(IDLE_MS);
      check();
      const visible = await visibleChanges(deps.pool, range, changesIn(frames));
      queue.add(range, await watchedCustomerMeters(deps.pool, frames, visible));
      work.wake();
    },
    onceSettled(then) {
      whenSettled = then;
    },
    async close() {
      isClosing = true;
      for (const wakeup of [work, capacity, end]) wakeup.wake();
      await running;
    },
  };
}

/** What waits, and what is settled now. */
function createQueue() {
  const nothing = (): Loaded => ({ ranges: [], touched: new Map() });
  let waiting = nothing();
  let settling = nothing();
  const ranges = () => settling.ranges.length + waiting.ranges.length;
  return {
    ranges,
    isFull() {
      const customerMeters = settling.touched.size + waiting.touched.size;
      return ranges() >= WAITING_MAX.ranges || customerMeters >= WAITING_MAX.customerMeters;
    },
    add(range: Range, touched: readonly TouchedCustomerMeter[]): void {
      for (const customerMeter of touched) mergeCustomerMeter(waiting.touched, customerMeter);
      waiting.ranges.push(range);
    },
    /** All that waits; more may be added until it is `taken`. */
    take(): Loaded {
      settling = waiting;
      waiting = nothing();
      return settling;
    },
    taken(): void {
      settling = nothing();
    },
  };
}

async function settleLoaded(
  deps: SettlerDeps,
  lease: Lease,
  { loaded, recent }: { loaded: Loaded; recent: RecentCustomerMeters },
): Promise<void> {
  const nowMs = deps.clock.nowMs();
  const { customerMeters: marked, marks } = await markedCustomerMeters(deps.pool, { ...deps, nowMs });
  const { ranges, touched } = loaded;
  const merged = new Map(touched);
  const due = [...recent.due(nowMs), ...(await dueLevels(deps.pool, nowMs))];
  for (const customerMeter of [...marked, ...due]) mergeCustomerMeter(merged, customerMeter);
  if (ranges.length + merged.size + marks.length === 0) return;
  const batch = { ranges, customerMeters: [...merged.values()], marks };
  const { watched, crossings } = await settleBatch(deps, lease, batch);
  recent.add(
    watched.filter((one) => touched.has(nameOf(one))),
    nowMs,
  );
  deps.metrics.settled({ ranges: ranges.length, customerMeters: watched.length, crossings });
}
