import { setTimeout as delay } from 'node:timers/promises';
import { waitForIdentityKey } from '../../domain/secrets.ts';
import { type KafkaLog, openKafkaLog } from '../../infra/kafka/kafka-log.ts';
import { addressOf, waitUntilAvailable } from '../../infra/platform/wait-until-available.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import type { DistributedIdempotencyStore } from '../../infra/ports/idempotency-store.ts';
import { NOWHERE_URL } from '../../infra/postgres/pool.ts';
import { openValkeyKeys } from '../../infra/valkey/valkey-keys.ts';
import { createDistributedUsage } from '../../ingest/distributed/begin-distributed-usage.ts';
import { createStamps } from '../../ingest/engine/created-at.ts';
import { createDistributedEngine } from '../../ingest/engine/js/distributed-engine.ts';
import { createAccept } from '../../ingest/http/accept.ts';
import { createAdmission } from '../../ingest/http/admission.ts';
import { createIdentity } from '../../ingest/identity.ts';
import { createUsageMetrics } from '../../ingest/metrics.ts';
import { createOwnBatches } from '../../ingest/own-usage/own-batches.ts';
import type { DistributedStores } from '../config/distributed-stores-config.ts';
import { type Blockers, type DataPlane, openCaches, type UsagePath } from './data-plane.ts';
import { openWarehouse } from './open-warehouse.ts';

/** Opens what acknowledgements need where several processes take usage: a common log and common keys. */
export async function openDistributedUsage(
  dataPlane: DataPlane,
  distributed: DistributedStores,
): Promise<UsagePath> {
  const { config, log, metrics, closer } = dataPlane;
  const identity = createIdentity(await reachIdentityKey(dataPlane));
  const kafka = await openLog(dataPlane, distributed);
  const { partitions } = kafka;
  const store = await openKeys(dataPlane, distributed, partitions);

  // Not awaited: usage is accepted while it is unavailable.
  const { warehouse } = await openWarehouse(dataPlane, config.dataDir);

  const { keys, registry, listeners } = openCaches(dataPlane);
  const admission = createAdmission(config.ingest.inFlightBytesMax);
  const usageMetrics = createUsageMetrics(metrics, { inFlightBytes: () => admission.held });
  const { hotWindowMs } = distributed.keys;
  const engine = createDistributedEngine({
    registry,
    hotWindowMs,
    ...createStamps(systemClock),
    limits: { ageMsMax: config.ingest.eventAgeMsMax, aheadMsMax: config.ingest.eventAheadMsMax },
    identityOf: identity.keyOf,
  });
  const usage = createDistributedUsage({
    engine,
    keys: store,
    partitions,
    writer: kafka.writer,
    warehouse,
    clock: systemClock,
    log,
    onFrame: usageMetrics.frame,
  });
  closer.add('commits', { drain: () => usage.drain() });
  // The brokers manage their disks: they reject what they cannot store.
  const isDiskLow = () => false;
  return {
    keys,
    sendOwn: createOwnBatches({ begin: usage.begin, isDiskLow, created: usageMetrics.eventsCreated }),
    accept: createAccept({
      keys,
      admission,
      begin: usage.begin,
      listeners,
      backfills: registry,
      isDiskLow,
      metrics: usageMetrics,
      rejections: dataPlane.rejections,
      log,
      // A store that rejects this process may accept it again: requests get 503 meanwhile.
      fail: () => undefined,
    }),
    blockers: () => blockersOf(kafka),
  };
}

/** Made by the first control plane, which may start after us. */
async function reachIdentityKey({
  config,
  pool,
  log,
  opening,
  endpointDiscovery,
}: DataPlane): Promise<Buffer> {
  const { storesWaitMs: waitMs } = config;
  opening.why = 'Postgres is waited for';
  const address = addressOf(endpointDiscovery.postgresUrl() ?? NOWHERE_URL);
  await waitUntilAvailable({ variable: 'DATABASE_URL', address }, () => pool.query('SELECT 1'), {
    waitMs,
    log,
  });
  opening.why = 'a control plane has to make the identity key first';
  return await waitForIdentityKey(pool, log);
}

async function openLog(
  { config, pool, log, closer, opening }: DataPlane,
  { kafka }: DistributedStores,
): Promise<KafkaLog> {
  const { storesWaitMs: waitMs } = config;
  opening.why = 'Kafka is waited for';
  const store = { variable: 'KAFKA_BROKERS', address: kafka.brokers.join(',') };
  const opened = await waitUntilAvailable(store, () => openKafkaLog({ settings: kafka, pool, log }), {
    waitMs,
    log,
  });
  closer.add('log', { close: () => opened.close() });
  return opened;
}

async function openKeys(
  { config, pool, log, closer, opening }: DataPlane,
  { keys: settings }: DistributedStores,
  shards: number,
): Promise<DistributedIdempotencyStore> {
  const { storesWaitMs: waitMs } = config;
  opening.why = 'the keys on Valkey are waited for';
  const { eventAheadMsMax: aheadMsMax } = config.ingest;
  const open = () => openValkeyKeys({ settings, aheadMsMax, shards, pool, clock: systemClock, log });
  const store = { variable: 'REDIS_URL', address: addressOf(settings.url) };
  const keys = await waitUntilAvailable(store, open, { waitMs, log });
  closer.add('keys', { close: () => keys.close() });
  return keys;
}

const CHECK_TIMEOUT_MS = 2_000;

/** Used by readyz. A store that hangs counts as unavailable. */
async function blockersOf(kafka: KafkaLog): Promise<Blockers> {
  const log = await Promise.race([
    kafka.reader.durableEnds(),
    delay(CHECK_TIMEOUT_MS, undefined, { ref: false }),
  ]).catch(() => undefined);
  return log ? {} : { log: 'Kafka does not respond: usage is rejected with 503' };
}
