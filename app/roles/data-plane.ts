import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Registry as Metrics } from 'prom-client';
import { createKeyCache, type KeyCache } from '../../domain/api-key-cache.ts';
import { createFirstCallStamp } from '../../domain/first-call-stamp.ts';
import { createLastUsedStamp } from '../../domain/last-used-stamp.ts';
import { type DerivedSecrets, hashApiKey } from '../../domain/secrets.ts';
import { findApiKey } from '../../domain/store/find-api-key.ts';
import type { SendBatch } from '../../infra/own-usage/usage-writer.ts';
import type { RejectionLog } from '../../infra/platform/rejection-log.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import { createListener } from '../../infra/postgres/listen.ts';
import type { EndpointDiscovery } from '../../ingest/endpoint-discovery.ts';
import { createListeners, type Listeners } from '../../ingest/events/listeners.ts';
import type { UsageOperation } from '../../ingest/http/usage-operation.ts';
import { createRegistry, type Registry } from '../../ingest/registry.ts';
import { findListeningMeters } from '../../ingest/store/find-listening-meters.ts';
import type { DataPlaneBlocker } from '../../schemas/readiness-names.ts';
import { CHANNELS, type Invalidation } from '../../schemas/stored/channels.ts';
import type { RoleContext } from './role-process.ts';

/** What both ways of taking usage need. */
export interface DataPlane extends RoleContext {
  metrics: Metrics;
  endpointDiscovery: EndpointDiscovery;
  pool: Pool;
  /** Read when they are first needed: the control side makes their file at the very first start. */
  secrets(): DerivedSecrets;
  rejections: RejectionLog;
  /** Why usage is not taken yet, for readyz. */
  opening: { why: string };
}

/** What keeps the data plane from accepting usage, by name and in words; empty when nothing does. */
export type Blockers = Partial<Record<DataPlaneBlocker, string>>;

/** An open way for usage. */
export interface UsagePath {
  accept: Accept;
  /** For usage of the installation itself. */
  sendOwn: SendBatch;
  keys: KeyCache;
  /** What blocks it at present, by name. */
  blockers: () => Blockers | Promise<Blockers>;
}

export type Accept = (exchange: Exchange, operation: UsageOperation) => void;

export interface Caches {
  keys: KeyCache;
  registry: Registry;
  /** The meters that count events of other formats. */
  listeners: Listeners;
}

const REGISTRY_ENTRIES_MAX = 200_000;

/** API keys, customers and meters that are cached, invalidated by what Postgres notifies. */
export function openCaches(dataPlane: DataPlane): Caches {
  const { pool, endpointDiscovery, closer, log } = dataPlane;
  const keys = openKeyCache(dataPlane);
  const registry = createRegistry(pool, { entriesMax: REGISTRY_ENTRIES_MAX, clock: systemClock });
  const load = (environment: string) => findListeningMeters(pool, environment);
  const listeners = createListeners({ clock: systemClock, load });
  const caches = { keys, registry, listeners };
  closer.add('listener', listenForChanges(endpointDiscovery, caches, log));
  return caches;
}

function openKeyCache({ pool, log, closer, secrets }: DataPlane): KeyCache {
  const { keyPepper } = secrets();
  const firstCalls = createFirstCallStamp(pool, log);
  closer.add('first calls', { close: () => firstCalls.close() });
  const lastUsed = createLastUsedStamp(pool, log);
  closer.add('last used', { close: () => lastUsed.close() });
  return createKeyCache({
    load: async (text) => {
      const key = await findApiKey(pool, hashApiKey(text, keyPepper));
      // After the response, and only when a key is queried: no request of the hot path pays for it.
      if (key && !key.revoked) {
        firstCalls.saw(key.environment);
        lastUsed.saw(key.id, systemClock.nowMs());
      }
      return key;
    },
    clock: systemClock,
  });
}

function listenForChanges(endpointDiscovery: EndpointDiscovery, caches: Caches, log: Logger) {
  const all = Object.values(caches) as Array<Caches[keyof Caches]>;
  const clear = () => {
    for (const cache of all) cache.clear();
  };
  return createListener(
    { url: () => endpointDiscovery.postgresUrl() ?? '', log },
    {
      channels: {
        [CHANNELS.changes]: (payload) => {
          const change = JSON.parse(payload) as Invalidation;
          for (const cache of all) cache.forget(change);
        },
      },
      // mutant: known-forgotten-with-postgres
      onSession: clear,
    },
  );
}
