/** The control side's process: Postgres, the warehouse, the load, the control plane and delivery. */
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { serveKeyExport } from '../aggregator/key-export/serve-key-export.ts';
import { createControlPlane } from '../control-plane/control-plane.ts';
import type { DerivedSecrets } from '../domain/secrets.ts';
import type { KafkaLog } from '../infra/kafka/kafka-log.ts';
import { type DataDir, prepareDataDir } from '../infra/platform/data-dir.ts';
import { createDiskGuard } from '../infra/platform/disk-guard.ts';
import { writeEndpoints } from '../infra/platform/endpoints-file.ts';
import { createMetrics } from '../infra/platform/metrics.ts';
import { createOperatorAccess } from '../infra/platform/operator-access.ts';
import { identityOf } from '../infra/platform/process-identity.ts';
import { acquireLock } from '../infra/platform/process-lock.ts';
import { publicUrl } from '../infra/platform/public-url.ts';
import { retryUntilAvailable } from '../infra/platform/retry-until-available.ts';
import { systemClock } from '../infra/ports/clock.ts';
import { createListener } from '../infra/postgres/listen.ts';
import { openSegmentLogReader } from '../infra/segment-log/reader.ts';
import { traceRequests } from '../infra/tracing/trace-listener.ts';
import type { DistributedStores } from './config/distributed-stores-config.ts';
import { startDemoData } from './demo/demo-data.ts';
import { readDemoKey } from './demo/demo-workspace.ts';
import { prepareInstallation } from './prepare-installation.ts';
import { rejectLostCluster, rejectOtherDatabase } from './reject-lost-database.ts';
import { type ControlServer, createControlServer } from './roles/control-server.ts';
import { loadLater } from './roles/load-later.ts';
import { openDelivery } from './roles/open-delivery.ts';
import { type LoadDeps, openLoad } from './roles/open-load.ts';
import { openTracing } from './roles/open-tracing.ts';
import { openWarehouse } from './roles/open-warehouse.ts';
import { ownUsageOfThisMachine } from './roles/own-usage.ts';
import { openRelational, type Relational } from './roles/relational.ts';
import { onAllReady, type RoleContext, runRole } from './roles/role-process.ts';

await runRole('control', async (context) => {
  const { config, closer, log } = context;
  const paths = prepareDataDir(config.dataDir);
  // For as long as this process is there: a step of the stop that takes too long may still write.
  await acquireLock(paths.lock('control'), identityOf(process.ppid));
  const server = await createControlServer({ log });
  const reportWhere = (postgresUrl: string) =>
    writeEndpoints(paths.endpoints, { postgresUrl, controlUrl: server.url });
  const { databaseUrl, seedDemo } = config;
  const directory = paths.postgres;
  if (databaseUrl === undefined) rejectLostCluster(paths);
  // A log that others share is none of this folder.
  const verify = async (pool: Pool) =>
    config.distributed ? undefined : rejectOtherDatabase(pool, paths.log);
  const relational = await openRelational({
    databaseUrl,
    directory,
    log,
    closer,
    verify,
    onMoved: reportWhere,
  });
  const installed = { config, paths, pool: relational.pool };
  const secrets = await retryUntilAvailable(
    'Postgres',
    () => prepareInstallation(installed, { seedDemo }),
    log,
  );
  reportWhere(relational.url());
  await serve({ ...context, paths, relational, secrets, server });
  return undefined;
});

interface ControlSide extends RoleContext {
  paths: DataDir;
  relational: Relational;
  secrets: DerivedSecrets;
  server: ControlServer;
}

/**
 * Opens the rest, from the stores to the server, so that the server is the first to be closed. Resolves when
 * the load runs: until ClickHouse is available, everything else is served.
 */
async function serve(side: ControlSide): Promise<void> {
  const { config, closer, log, relational, secrets, server } = side;
  const { pool, url: postgresUrl } = relational;
  const source = await openLog(side);
  const { logReader, keepsMs: logKeepsMs } = source;
  const opened = await openWarehouse(side, side.paths.warehouse);
  const { warehouse } = opened;
  const metrics = createMetrics('control');
  const openDisk = () => openDiskGuard(side);
  // The role's lock sees to there being one on a log of this machine; others may read one on Kafka.
  const owner = config.distributed ? randomUUID() : 'control-side';
  const load = openLoad(side, { ...opened, ...source, relational, metrics, openDisk, owner });
  const controlPlane = createControlPlane(
    {
      pool,
      warehouse,
      logReader,
      logKeepsMs,
      secrets,
      clock: systemClock,
      log: log.child({ component: 'control-plane' }),
      metrics,
      isLookedAt: load.isLookedAt,
      usageWriter: ownUsageOfThisMachine(side.paths, secrets),
    },
    {
      rateLimits: { secret: config.rateLimit },
      webhookTargets: config.webhookTargets,
      // The data plane requests them; it opens METRICS_PORT itself.
      demoKey: () => readDemoKey(side.paths.demoKeys),
      access: createOperatorAccess(config, secrets.internalToken.toString('base64url')),
    },
  );
  closer.add('control plane', { drain: () => controlPlane.close() });
  // As many Metergates as there may be on one database: no two processes write one log.
  const sender = config.distributed ? owner : Buffer.from(logReader.logId).toString('hex');
  const delivery = openDelivery(side, { postgresUrl, secrets, metrics, owner: sender });
  const channels = mergeChannels([load, controlPlane.notifications, delivery]);
  const onSession = () => {
    controlPlane.notifications.onSession();
    delivery.look();
  };
  closer.add('listener', createListener({ url: postgresUrl, log }, { channels, onSession }));
  closer.add('server', { drain: server.drain, close: server.close });
  // Drained first: the server waits for every response.
  closer.add('streams', { drain: controlPlane.endStreams });
  const { internalToken: token } = secrets;
  const { eventsRetentionDays } = config;
  const spans = openTracing(side);
  const { listener } = controlPlane;
  const traced = spans ? traceRequests(listener, spans) : listener;
  server.serve(serveKeyExport({ pool, warehouse, token, log, eventsRetentionDays }, traced));
  fillDemo(side);
  await load.start();
  loadLater(side, controlPlane.loadGraphql);
}

type Channels = Record<string, (payload: string) => void>;

/** Several parts of the process may listen to one channel. */
function mergeChannels(parts: ReadonlyArray<{ channels: Channels }>): Channels {
  const merged: Channels = {};
  for (const [channel, receive] of parts.flatMap(({ channels }) => Object.entries(channels))) {
    const before = merged[channel];
    merged[channel] = (payload) => {
      before?.(payload);
      receive(payload);
    };
  }
  return merged;
}

/** Once the data plane serves, too: it is filled through the public port. */
function fillDemo({ config, paths, closer, log, relational: { pool } }: ControlSide): void {
  if (config.seedDemo !== 'true') return;
  const { webhookTargets } = config;
  const demo = startDemoData({ pool, log, file: paths.demoKeys, webhookTargets });
  closer.add('demo data', { drain: () => demo.close() });
  onAllReady(({ ingest }) => demo.served(publicUrl({ ...config, port: ingest?.port ?? config.port })));
}

type OpenedLog = Pick<LoadDeps, 'logReader' | 'deadLetters'> & Partial<Pick<KafkaLog, 'keepsMs'>>;

/** The data plane makes the log, at its first start, once it has the identity key. */
async function openLog(side: ControlSide): Promise<OpenedLog> {
  const { paths, closer, log } = side;
  if (side.config.distributed) return await openDistributedLog(side, side.config.distributed);
  const logReader = await retryUntilAvailable(
    'the log',
    () => openSegmentLogReader({ directory: paths.log }),
    log,
  );
  closer.add('log', { close: () => logReader.close() });
  return { logReader };
}

async function openDistributedLog({ relational, closer, log }: ControlSide, { kafka }: DistributedStores) {
  const { openKafkaLog } = await import('../infra/kafka/kafka-log.ts');
  const open = () => openKafkaLog({ settings: kafka, pool: relational.pool, log });
  const opened = await retryUntilAvailable('Kafka', open, log);
  closer.add('log', { close: () => opened.close() });
  const { reader: logReader, deadLetters, keepsMs } = opened;
  return { logReader, deadLetters, keepsMs };
}

function openDiskGuard({ config, paths, closer, log }: ControlSide): { isLow(): boolean } {
  const disk = createDiskGuard({ directory: paths.root, bytesMin: config.diskFreeBytesMin, log });
  closer.add('disk guard', { close: () => disk.close() });
  return disk;
}
