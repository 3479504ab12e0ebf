import type { Logger } from 'pino';
import { createWakeup } from '../../infra/platform/wakeup.ts';
import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import type { Lease } from '../load/lease.ts';
import type { AggregatorMetrics } from '../metrics.ts';
import type { Range } from '../store/ranges.ts';
import { markedCustomerMeters } from './marked-customer-meters.ts';
import { createRecentCustomerMeters, type RecentCustomerMeters } from './recent-customer-meters.ts';
import { type BatchDeps, settleBatch } from './settle-batch.ts';
import { mergeCustomerMeter, watchedCustomerMeters } from './touched-customer-meters.ts';
import { dueLevels } from './usage-levels.ts';

/**
 * Settles what is loaded, concurrently with the load. It takes all waiting ranges at once, so that a customer
 * meter that is used repeatedly is settled once.
 */
export interface Settler {
  /**
   * A loaded range with what its frames have touched. Waits while too much is before it. Throws as `check`.
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
 * Loaded and not settled; beyond it the load waits. A range keeps its touched customer meters, not its
 * events: there are as many when each event is of another customer. A single range may have more.
 */
const WAITING_MAX = { ranges: 64, customerMeters: 500_000 };
/** How often marks are looked for while nothing is loaded. */
const IDLE_MS = 500;
/** Settling takes a third of the time, unless a single settlement takes long. */
const PAUSE = { times: 2, msMax: 1_500 };

interface LoadedRange {
  range: Range;
  touched: TouchedCustomerMeter[][];
  customerMeters: number;
}

export function startSettler(deps: SettlerDeps, lease: Lease): Settler {
  const { clock, metrics, log } = deps;
  const recent = createRecentCustomerMeters();
  const [work, capacity, end] = [createWakeup(), createWakeup(), createWakeup()];
  let waiting: LoadedRange[] = [];
  let isClosing = false;
  let failure: { error: unknown } | undefined;
  let whenSettled: (() => Promise<void>) | undefined;

  async function settleWaiting(): Promise<void> {
    // A copy: more is added while this is settled.
    const loaded = [...waiting];
    const then = whenSettled;
    await settleLoaded(deps, lease, { loaded, recent });
    waiting = waiting.slice(loaded.length);
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
      metrics.settling(tookMs / 1000, waiting.length);
      await end.wait(Math.min(tookMs * PAUSE.times, PAUSE.msMax));
      if (waiting.length === 0) await work.wait(IDLE_MS);
    }
  }

  function check(): void {
    if (failure) throw failure.error;
  }

  const running = keepSettling().catch((error: unknown) => {
    failure = { error };
    log.warn({ err: error, waiting: waiting.length }, 'settling has failed: the load restarts it');
    capacity.wake();
  });
  return {
    check,
    async add(range, touched) {
      const customerMeters = touched.reduce((sum, one) => sum + one.length, 0);
      while (isFull(waiting, customerMeters) && !failure && !isClosing) await capacity.wait(IDLE_MS);
      check();
      waiting.push({ range, touched, customerMeters });
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

function isFull(waiting: readonly LoadedRange[], more: number): boolean {
  const customerMeters = waiting.reduce((sum, one) => sum + one.customerMeters, more);
  return (
    waiting.length > 0 &&
    (waiting.length >= WAITING_MAX.ranges || customerMeters > WAITING_MAX.customerMeters)
  );
}

async function settleLoaded(
  deps: SettlerDeps,
  lease: Lease,
  { loaded, recent }: { loaded: readonly LoadedRange[]; recent: RecentCustomerMeters },
): Promise<void> {
  const nowMs = deps.clock.nowMs();
  const { customerMeters: marked, marks } = await markedCustomerMeters(deps.pool, { ...deps, nowMs });
  const touched = await watchedCustomerMeters(
    deps.pool,
    loaded.flatMap((one) => one.touched),
  );
  const merged = new Map<string, TouchedCustomerMeter>();
  const due = [...recent.due(nowMs), ...(await dueLevels(deps.pool, nowMs))];
  for (const customerMeter of [...touched, ...marked, ...due]) mergeCustomerMeter(merged, customerMeter);
  if (loaded.length + merged.size + marks.length === 0) return;
  const ranges = loaded.map(({ range }) => range);
  const batch = { ranges, customerMeters: [...merged.values()], marks };
  const { watched, crossings } = await settleBatch(deps, lease, batch);
  recent.add(ofThem(watched, touched), nowMs);
  deps.metrics.settled({ ranges: ranges.length, customerMeters: watched.length, crossings });
}

function ofThem(
  customerMeters: readonly TouchedCustomerMeter[],
  touched: readonly TouchedCustomerMeter[],
): TouchedCustomerMeter[] {
  const names = new Set(touched.map(nameOf));
  return customerMeters.filter((customerMeter) => names.has(nameOf(customerMeter)));
}

function nameOf({ environment, customerId, meterKey }: TouchedCustomerMeter): string {
  return `${environment} ${customerId} ${meterKey}`;
}
