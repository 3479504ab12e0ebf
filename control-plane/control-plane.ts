import type Koa from 'koa';
import { createFirstCallStamp } from '../infra/first-call-stamp.ts';
import { createLastUsedStamp } from '../infra/last-used-stamp.ts';
import type { EventLogReader } from '../infra/ports/event-log.ts';
import { CHANNELS, type LoadedNote } from '../schemas/channels.ts';
import { type AppDeps, type AppOptions, createApp } from './app.ts';
import { createClockMetrics, createReadGauges } from './metrics.ts';
import { startSweep } from './old-rows-sweep.ts';
import { notifyReaderWaits, readLoadedPosition } from './store/loaded-position.ts';
import { startSubscriptionClock } from './subscription-clock/subscription-clock.ts';
import { createFreshness } from './usage/freshness.ts';

export interface ControlPlaneDeps extends Omit<AppDeps, 'freshness' | 'firstCalls' | 'lastUsed'> {
  logReader: EventLogReader;
}

export interface ControlPlane {
  app: Koa;
  /** To be heard by the listener of this process, in the form of its handlers. */
  notes: {
    channels: Record<string, (payload: string) => void>;
    onSession: () => void;
  };
  /** After the last request. Neither the pool nor the warehouse nor the log is closed. */
  close(): Promise<void>;
}

/** The control plane with everything that runs beside its requests. */
export function createControlPlane(deps: ControlPlaneDeps, options: AppOptions = {}): ControlPlane {
  const { pool, logReader, clock, log } = deps;
  const logId = Buffer.from(logReader.logId).toString('hex');
  const freshness = createFreshness({
    logId,
    durableEnd: () => logReader.durableEnd(0),
    readLoaded: () => readLoadedPosition(pool, logId),
    askForLoad: () => notifyReaderWaits(pool),
    clock,
    log,
  });
  const firstCalls = createFirstCallStamp(pool, log);
  const lastUsed = createLastUsedStamp(pool, log);
  const sweep = startSweep(pool, log);
  const subscriptionClock = startSubscriptionClock({
    pool,
    clock,
    log,
    metrics: createClockMetrics(deps.metrics, clock.nowMs),
  });
  createReadGauges(deps.metrics, {
    lagBytes: () => freshness.lag().bytes,
    lagSeconds: () => freshness.lag().seconds,
  });
  return {
    app: createApp({ ...deps, freshness, firstCalls, lastUsed }, options),
    notes: {
      channels: { [CHANNELS.loaded]: (payload) => freshness.heard(JSON.parse(payload) as LoadedNote) },
      onSession: freshness.newSession,
    },
    async close() {
      freshness.close();
      await subscriptionClock.close();
      await sweep.close();
      await firstCalls.close();
      await lastUsed.close();
    },
  };
}
