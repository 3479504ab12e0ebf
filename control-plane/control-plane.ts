import type { Pool } from 'pg';
import { createKeyCache } from '../domain/api-key-cache.ts';
import { createFirstCallStamp } from '../domain/first-call-stamp.ts';
import { startJobWatch } from '../domain/job-watch.ts';
import { createLastUsedStamp } from '../domain/last-used-stamp.ts';
import { hashApiKey } from '../domain/secrets.ts';
import { findApiKey, findApiKeyById } from '../domain/store/find-api-key.ts';
import type { EventLogReader } from '../infra/ports/event-log.ts';
import {
  CHANNELS,
  type CreditsInvalidation,
  type Invalidation,
  type LoadedThrough,
  type UsageChangesInvalidation,
} from '../schemas/stored/channels.ts';
import { createLiveUsage, type LiveUsage } from './analytics/live/live-usage.ts';
import { type App, type AppDeps, type AppOptions, createApp } from './app.ts';
import { startClockRepair } from './clock/clock-repair.ts';
import { startSubscriptionClock } from './clock/subscription-clock.ts';
import { startCorrections } from './corrections/corrections-job.ts';
import { startSimulator } from './cost/simulator.ts';
import { startCreditExpiry } from './credits/credit-expiry.ts';
import { startCreditSchedule } from './credits/credit-schedule.ts';
import { createEntitlementCache } from './entitlements/cache/entitlement-cache.ts';
import { startChangeNotifier } from './entitlements/changes/change-notifier.ts';
import { startLogWatch } from './jobs/log-watch.ts';
import { startSweep } from './jobs/old-rows-sweep.ts';
import { watchedJobs } from './jobs/watched-jobs.ts';
import {
  createClockMetrics,
  createLogWatchMetrics,
  createNotifierMetrics,
  createReadGauges,
  createReservationMetrics,
  type ReservationMetrics,
} from './metrics.ts';
import { startProcessorMatcher } from './processor/processor-matcher.ts';
import { startReservationExpiry } from './reservations/reservation-expiry.ts';
import { notifyReaderWaits, readLoadedPartitions, readLoadedPosition } from './store/loaded-position.ts';
import { type Repairs, readRepairs } from './store/repairs.ts';
import { createFreshness, type Freshness } from './usage/freshness.ts';
import { createPartitionCuts } from './usage/partition-cuts.ts';
import { createUsageViews } from './usage/usage-views.ts';

/** Created here, from the other dependencies. */
type Inside =
  | 'freshness'
  | 'liveUsage'
  | 'logId'
  | 'firstCalls'
  | 'lastUsed'
  | 'keys'
  | 'tokenIssuers'
  | 'entitlementCache'
  | 'invalidate'
  | 'jobWatch'
  | 'reservationMetrics';

export interface ControlPlaneDeps extends Omit<AppDeps, Inside> {
  /** For a log with a retention time: reads its present setting. */
  logKeepsMs?: (() => Promise<number | undefined>) | undefined;
  /**
   * For a warehouse that checks for damage after its start: whether the check has ended. Until then the state
   * is unknown.
   */
  isLookedAt?: () => boolean;
}

export interface ControlPlane extends App {
  /** The handlers that the listener of this process calls for notifications. */
  notifications: {
    channels: Record<string, (payload: string) => void>;
    onSession: () => void;
  };
  /** Ends the responses that go on, so that the last request can end. From now on none begins. */
  endStreams(): void;
  /** After the last request. Neither the pool nor the warehouse nor the log is closed. */
  close(): Promise<void>;
}

/** The control plane with its background jobs. */
export function createControlPlane(deps: ControlPlaneDeps, options: AppOptions = {}): ControlPlane {
  const { pool, logReader, clock, log } = deps;
  const progress = progressOf(logReader, pool);
  const requestLoad = () => notifyReaderWaits(pool);
  const views = createUsageViews(deps);
  const freshness = createFreshness({ ...progress, ...repairsOf(deps), views, requestLoad, clock, log });
  const liveUsage = createLiveUsage({ ...deps, logId: progress.logId });
  const inside = { freshness, liveUsage, logId: progress.logId };
  const { invalidations, ...caches } = createCaches(deps, freshness);
  const firstCalls = createFirstCallStamp(pool, log);
  const lastUsed = createLastUsedStamp(pool, log);
  const reservationMetrics = createReservationMetrics(deps.metrics, clock.nowMs);
  const jobs = startJobs(deps, inside, reservationMetrics);
  const { jobWatch } = jobs;
  createReadGauges(deps.metrics, {
    lagBytes: () => freshness.lag().bytes,
    lagSeconds: () => freshness.lag().seconds,
  });
  const invalidate = (channel: string, payload: string) => invalidations.channels[channel]?.(payload);
  const told = { firstCalls, lastUsed, invalidate, jobWatch, reservationMetrics };
  const app = { ...deps, ...inside, ...caches, ...told };
  const served = createApp(app, options);
  const endStreams = () => {
    liveUsage.end();
    served.endFeeds();
  };
  return {
    ...served,
    notifications: {
      channels: channelsOf(invalidations.channels, { jobs, freshness, liveUsage }),
      onSession() {
        freshness.newSession();
        invalidations.onSession();
      },
    },
    endStreams,
    async close() {
      endStreams();
      freshness.close();
      caches.entitlementCache.close();
      await jobs.close();
      await firstCalls.close();
      await lastUsed.close();
    },
  };
}

interface Notified {
  jobs: ReturnType<typeof startJobs>;
  freshness: Freshness;
  liveUsage: LiveUsage;
}

/** What is invalidated, and wakes what waits for it. */
function channelsOf(
  invalidated: ControlPlane['notifications']['channels'],
  { jobs, freshness, liveUsage }: Notified,
): ControlPlane['notifications']['channels'] {
  return {
    ...invalidated,
    [CHANNELS.changes]: (payload) => {
      invalidated[CHANNELS.changes]?.(payload);
      if (mayMap(payload)) jobs.wakeMatcher();
    },
    [CHANNELS.usageChanges]: (payload) => {
      invalidated[CHANNELS.usageChanges]?.(payload);
      jobs.wakeCorrections();
    },
    [CHANNELS.loaded]: (payload) => {
      freshness.loaded(JSON.parse(payload) as LoadedThrough);
      liveUsage.wake();
    },
    [CHANNELS.fanoutRequested]: jobs.wakeNotifier,
    [CHANNELS.simulationRequested]: jobs.wakeSimulator,
  };
}

/** Jobs driven by time and by changes; the job watch reports which of them is stuck. */
function startJobs(
  deps: ControlPlaneDeps,
  { freshness, logId }: { freshness: Freshness; logId: string },
  metrics: ReservationMetrics,
) {
  const { pool, clock, log } = deps;
  const sweep = startSweep(pool, log);
  const clockMetrics = createClockMetrics(deps.metrics, clock.nowMs);
  const subscriptionClock = startSubscriptionClock({ pool, clock, log, metrics: clockMetrics });
  const creditExpiry = startCreditExpiry(deps);
  const creditSchedule = startCreditSchedule(deps);
  const reservationExpiry = startReservationExpiry({ ...deps, freshness, logId, metrics });
  const processorMatcher = startProcessorMatcher(deps);
  const notifierMetrics = createNotifierMetrics(deps.metrics, clock.nowMs);
  const changeNotifier = startChangeNotifier({ pool, clock, log, metrics: notifierMetrics });
  const logWatch = watchLog(deps);
  const clockRepair = startClockRepair({ pool, clock, log });
  const simulator = startSimulator({ ...deps, asOfMs: freshness.asOfMs });
  const corrections = startCorrections({ ...deps, freshness });
  const jobWatch = startJobWatch(deps, watchedJobs({ watchesLog: logWatch !== undefined }));
  const jobs = [
    jobWatch,
    ...(logWatch ? [logWatch] : []),
    clockRepair,
    changeNotifier,
    subscriptionClock,
    creditExpiry,
    creditSchedule,
    reservationExpiry,
    processorMatcher,
    simulator,
    corrections,
    sweep,
  ];
  return {
    jobWatch,
    wakeMatcher: () => processorMatcher.wake(),
    wakeNotifier: () => changeNotifier.wake(),
    wakeSimulator: () => simulator.wake(),
    wakeCorrections: () => corrections.wake(),
    /** Closes one job after the other, in the order of their start. */
    async close() {
      for (const job of jobs) await job.close();
    },
  };
}

/** After a change that an event of the processor may have waited for. */
function mayMap(payload: string): boolean {
  const { kind } = JSON.parse(payload) as Invalidation;
  return kind === 'catalogue' || kind === 'customer';
}

function repairsOf({ pool, isLookedAt = () => true }: ControlPlaneDeps) {
  async function repairs(): Promise<Repairs> {
    const read = await readRepairs(pool);
    return { ...read, isOpen: read.isOpen || !isLookedAt() };
  }
  return { repairs };
}

function watchLog({ logKeepsMs: keepsMs, ...deps }: ControlPlaneDeps) {
  return keepsMs && startLogWatch({ ...deps, keepsMs, metrics: createLogWatchMetrics(deps.metrics) });
}

/** The caches that responses are made from without a store, and the notifications that invalidate them. */
function createCaches(deps: ControlPlaneDeps, freshness: Freshness) {
  const { pool, secrets, clock } = deps;
  const load = (text: string) => findApiKey(pool, hashApiKey(text, secrets.keyPepper));
  const keys = createKeyCache({ load, clock });
  const tokenIssuers = createKeyCache({
    load: (id) => findApiKeyById(pool, id),
    mayName: () => true,
    clock,
  });
  const entitlementCache = createEntitlementCache({ ...deps, freshness });
  const invalidations: ControlPlane['notifications'] = {
    channels: {
      [CHANNELS.changes]: (payload) => {
        const invalidation = JSON.parse(payload) as Invalidation;
        keys.forget(invalidation);
        tokenIssuers.forget(invalidation);
        entitlementCache.invalidate(invalidation);
      },
      [CHANNELS.credits]: (payload) =>
        entitlementCache.invalidateCredits(JSON.parse(payload) as CreditsInvalidation),
      [CHANNELS.usageChanges]: (payload) => {
        const { environment } = JSON.parse(payload) as UsageChangesInvalidation;
        freshness.views.invalidate(environment);
        entitlementCache.counters.changed(environment);
      },
    },
    onSession() {
      freshness.views.clear();
      keys.clear();
      tokenIssuers.clear();
      entitlementCache.newSession();
    },
  };
  return { keys, tokenIssuers, entitlementCache, invalidations };
}

/** One partition has positions; those of several partitions are combined into one number. */
function progressOf(logReader: EventLogReader, pool: Pool) {
  const logId = Buffer.from(logReader.logId).toString('hex');
  if (logReader.partitions === 1) {
    const readLoaded = () => readLoadedPosition(pool, logId);
    return { logId, durableEnd: () => logReader.durableEnd(0), readLoaded };
  }
  const cuts = createPartitionCuts(() => logReader.durableEnds());
  const readLoaded = async () => cuts.loaded(await readLoadedPartitions(pool, logId));
  const { durableEnd, recordsLeft, loadedBy } = cuts;
  return { logId, durableEnd, readLoaded, loadedBy, recordsLeft };
}
