import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { PrivateTargets } from '../infra/platform/private-targets.ts';
import { createWakeup } from '../infra/platform/wakeup.ts';
import type { Clock } from '../infra/ports/clock.ts';
import { CHANNELS } from '../schemas/stored/channels.ts';
import { createDispatcher } from './dispatch/dispatcher.ts';
import { repeat } from './dispatch/repeat.ts';
import { fanOut } from './fan-out.ts';
import { holdDisabled } from './hold-disabled.ts';
import { createDeliveryMetrics } from './metrics.ts';
import { turnPartitions } from './retention.ts';
import type { Send } from './send/send.ts';
import { readBacklog } from './store/backlog.ts';

export interface DeliveryDeps {
  /** A pool of its own: a component that takes all connections of another pool must not block delivery. */
  pool: Pool;
  send: Send;
  clock: Clock;
  random: () => number;
  log: Logger;
  metrics: Registry;
  /** Opens what is sealed for the secrets of endpoints. */
  sealingKey: Buffer;
  /** The addresses that may be sent to in addition to public ones. */
  privateTargets: PrivateTargets;
}

export interface DeliveryOptions {
  /** One process's own at any time: what it had taken when it was killed is sent again at once. */
  owner: string;
  /** How often it looks without being woken. Default 1,000. */
  pollMs?: number;
  /** How long a stop waits until what was tried is written down; else it is sent again. Default 1,000. */
  recordWithinMs?: number;
}

export interface Delivery {
  /** For the listener: what to do on which channel. */
  readonly channels: Record<(typeof DELIVERY_CHANNELS)[number], () => void>;
  /** Checks at once for what may have been missed while no notifications arrived. */
  look(): void;
  /** Takes nothing more; attempts in flight end within seconds, or are left to their leases. */
  close(): Promise<void>;
}

/** The notifications it listens to. */
export const DELIVERY_CHANNELS = [CHANNELS.outbox] as const;

const POLL_MS = 1_000;
const RECORD_WITHIN_MS = 1_000;
const BACKLOG_EVERY_MS = 5_000;
const PARTITIONS_EVERY_MS = 3_600_000;

/** Makes deliveries of the events of the outbox, sends them, and forgets them when they are old. */
export function startDelivery(
  deps: DeliveryDeps,
  { owner, pollMs = POLL_MS, recordWithinMs = RECORD_WITHIN_MS }: DeliveryOptions,
): Delivery {
  const { pool, clock, log } = deps;
  const metrics = createDeliveryMetrics(deps.metrics, clock.nowMs);
  const closing = new AbortController();
  const outbox = createWakeup();
  const now = () => new Date(clock.nowMs());
  const keep = (failure: string, everyMs: number, act: () => Promise<boolean>, wakeup = createWakeup()) =>
    repeat(act, { failure, everyMs, wakeup, signal: closing.signal, log });

  async function makeDeliveries(): Promise<boolean> {
    const events = await fanOut(pool, now());
    if (events > 0) dispatcher.wake();
    return events > 0;
  }

  async function reportBacklog(): Promise<boolean> {
    metrics.backlog(await readBacklog(pool, now()));
    return false;
  }

  const dispatcher = createDispatcher({ ...deps, metrics }, { owner, pollMs, recordWithinMs });
  const kept = [
    keep('deliveries could not be made', pollMs, makeDeliveries, outbox),
    keep('deliveries could not be held', pollMs, async () => (await holdDisabled(pool, now())) > 0),
    keep('partitions of deliveries could not be turned', PARTITIONS_EVERY_MS, () =>
      turnPartitions(pool, now()),
    ),
    keep('the backlog of deliveries could not be read', BACKLOG_EVERY_MS, reportBacklog),
  ];
  const look = () => {
    outbox.wake();
    dispatcher.wake();
  };
  return {
    channels: { [CHANNELS.outbox]: look },
    look,
    async close() {
      closing.abort();
      await dispatcher.close();
      await Promise.all(kept);
    },
  };
}
