/** The control side's process: Postgres, the warehouse, the load, the control plane and delivery. */
import type { Registry } from 'prom-client';
import { answerKeyExport } from '../aggregator/key-export/answer-key-export.ts';
import { createStandstill } from '../aggregator/stand-still.ts';
import { AGGREGATOR_CHANNELS, type Aggregator, startAggregator } from '../aggregator/start-aggregator.ts';
import { createControlPlane } from '../control-plane/control-plane.ts';
import { createSend } from '../delivery/send.ts';
import { type Delivery, startDelivery } from '../delivery/start-delivery.ts';
import { createChdbWarehouse } from './clickhouse/chdb-warehouse.ts';
import { createClickHouseWarehouse } from './clickhouse/clickhouse-warehouse.ts';
import { setEventsRetention } from './clickhouse/events-retention.ts';
import { type ControlServer, createControlServer } from './control-server.ts';
import { type DataDir, prepareDataDir } from './data-dir.ts';
import { demoGreeting, ensureDemoWorkspace } from './demo-workspace.ts';
import { createDiskGuard } from './disk-guard.ts';
import { writeEndpoints } from './endpoints-file.ts';
import { createMetrics } from './metrics.ts';
import { systemClock } from './ports/clock.ts';
import type { EventLogReader } from './ports/event-log.ts';
import type { Warehouse } from './ports/warehouse.ts';
import { createListener } from './postgres/listen.ts';
import { createPool } from './postgres/pool.ts';
import { identityOf } from './process-identity.ts';
import { acquireLock } from './process-lock.ts';
import { publicUrl } from './public-url.ts';
import { openRelational, type Relational } from './relational.ts';
import { type RoleContext, runRole } from './role-process.ts';
import {
  checkServerSecret,
  type DerivedSecrets,
  deriveSecrets,
  ensureIdentityKey,
  readServerSecret,
} from './secrets.ts';
import { openSegmentLogReader } from './segment-log/reader.ts';
import { whenThere } from './when-there.ts';

/** The lease's owner: the role's lock already sees to there being one. */
const OWNER = 'control-side';
/** One for each act of the loader that may run beside another, one of settling, and one to spare. */
const LOAD_CONNECTIONS_MAX = 5;
/** One for each of its loops that may hang by itself. */
const DELIVERY_CONNECTIONS_MAX = 4;

await runRole('control', async (context) => {
  const { config, closer, log } = context;
  const paths = prepareDataDir(config.dataDir);
  const release = await acquireLock(paths.lock('control'), { waitMs: 0, keeper: identityOf(process.ppid) });
  closer.add('lock', { close: release });
  const server = await createControlServer();
  const tellWhere = (postgresUrl: string) =>
    writeEndpoints(paths.endpoints, { postgresUrl, controlUrl: server.url });
  const { databaseUrl } = config;
  const directory = paths.postgres;
  const relational = await openRelational({ databaseUrl, directory, log, closer, onMoved: tellWhere });
  const secrets = await whenThere('Postgres', () => prepareInstallation(context, paths, relational), log);
  tellWhere(relational.url());
  await serve({ ...context, paths, relational, secrets, server });
  return undefined;
});

interface ControlSide extends RoleContext {
  paths: DataDir;
  relational: Relational;
  secrets: DerivedSecrets;
  server: ControlServer;
}

/** What the first start makes and every later one finds. The data plane waits for the identity key. */
async function prepareInstallation(
  { config }: RoleContext,
  paths: DataDir,
  { pool }: Relational,
): Promise<DerivedSecrets> {
  const secret = readServerSecret({ given: config.serverSecret, dataDir: paths.root });
  await checkServerSecret(pool, secret, paths.root);
  const secrets = deriveSecrets(secret);
  await ensureIdentityKey(pool);
  if (config.seedDemo) {
    const keys = await ensureDemoWorkspace({ pool, pepper: secrets.keyPepper, file: paths.demoKeys });
    // Plain stdout, never the logger: what is logged is kept and shipped.
    if (keys) process.stdout.write(demoGreeting(keys, publicUrl(config), paths.demoKeys));
  }
  return secrets;
}

/**
 * Opens the rest, from the stores to the door, so that the door is the first to be closed. Resolves when the
 * load runs: until ClickHouse is there, everything else is answered.
 */
async function serve(side: ControlSide): Promise<void> {
  const { config, closer, log, relational, secrets, server } = side;
  const logReader = await openLog(side);
  const warehouse = openWarehouse(side);
  const metrics = createMetrics('control');
  const load = openLoad(side, { warehouse, logReader, metrics });
  const controlPlane = createControlPlane(
    {
      pool: relational.pool,
      warehouse,
      logReader,
      secrets,
      clock: systemClock,
      log: log.child({ component: 'control-plane' }),
      metrics,
    },
    { rateLimits: { secret: config.rateLimit }, webhookAllowPrivate: config.webhookAllowPrivate },
  );
  closer.add('control plane', { drain: () => controlPlane.close() });
  const delivery = openDelivery(side, { logReader, metrics });
  const channels = { ...load.channels, ...controlPlane.notes.channels, ...delivery.channels };
  const onSession = () => {
    controlPlane.notes.onSession();
    delivery.look();
  };
  closer.add('listener', createListener({ url: relational.url, log }, { channels, onSession }));
  closer.add('server', { drain: server.drain, close: server.close });
  const { pool } = relational;
  const { internalToken: token } = secrets;
  const { eventsRetentionDays } = config;
  server.serve(answerKeyExport({ pool, warehouse, token, log, eventsRetentionDays }, controlPlane.listener));
  await load.start();
}

function openWarehouse({ config, paths, closer, log, fail }: ControlSide): Warehouse {
  const own = log.child({ component: 'warehouse' });
  const warehouse = config.clickhouseUrl
    ? createClickHouseWarehouse({ url: config.clickhouseUrl, log: own })
    : createChdbWarehouse({ directory: paths.warehouse, log: own, onStuck: fail });
  closer.add('warehouse', { close: () => warehouse.close() });
  return warehouse;
}

/** The data plane makes the log, at its first start, once it has the identity key. */
async function openLog({ paths, closer, log }: ControlSide): Promise<EventLogReader> {
  const logReader = await whenThere('the log', () => openSegmentLogReader({ directory: paths.log }), log);
  closer.add('log', { close: () => logReader.close() });
  return logReader;
}

/** On connections of its own: deliveries go out while readers hold all others. */
function openDelivery(
  side: ControlSide,
  { logReader, metrics }: { logReader: EventLogReader; metrics: Registry },
): Delivery {
  const { config, closer, relational, secrets } = side;
  const log = side.log.child({ component: 'delivery' });
  const pool = createPool({ url: relational.url, name: 'delivery', log, max: DELIVERY_CONNECTIONS_MAX });
  closer.add('delivery pool', { close: () => pool.end() });
  const send = createSend({ log });
  closer.add('webhook connections', { close: () => send.close() });
  const { webhookAllowPrivate: allowPrivate } = config;
  const { sealingKey } = secrets;
  const delivery = startDelivery(
    { pool, send, clock: systemClock, random: Math.random, log, metrics, sealingKey, allowPrivate },
    // As many Metergates as there may be on one database: no two processes write one log.
    { owner: Buffer.from(logReader.logId).toString('hex') },
  );
  closer.add('delivery', { drain: () => delivery.close() });
  return delivery;
}

interface LoadDeps {
  warehouse: Warehouse;
  logReader: EventLogReader;
  metrics: Registry;
}

/** What is heard before its start is of no use to it: it begins with what is on the log. */
function openLoad(side: ControlSide, deps: LoadDeps) {
  let load: Aggregator | undefined;
  side.closer.add('aggregator', { drain: () => load?.close() });
  const hear = (channel: (typeof AGGREGATOR_CHANNELS)[number]) => () => load?.channels[channel]();
  return {
    channels: Object.fromEntries(AGGREGATOR_CHANNELS.map((channel) => [channel, hear(channel)])),
    async start(): Promise<void> {
      await migrate(side, deps);
      load = startLoad(side, deps);
    },
  };
}

async function migrate(side: ControlSide, { warehouse, logReader }: LoadDeps): Promise<void> {
  const { config, log, relational } = side;
  const load = { pool: relational.pool, warehouse, reader: logReader, clock: systemClock, log };
  const atStandstill = createStandstill(load, { owner: OWNER });
  await whenThere('ClickHouse', () => warehouse.migrate({ atStandstill }), log);
  await whenThere('ClickHouse', () => setEventsRetention(warehouse, config.eventsRetentionDays), log);
}

/** On connections of its own: readers that take all of theirs must not hold up counting. */
function startLoad(side: ControlSide, { warehouse, logReader, metrics }: LoadDeps): Aggregator {
  const { config, paths, closer, fail, relational } = side;
  const log = side.log.child({ component: 'aggregator' });
  const disk = createDiskGuard({ directory: paths.root, bytesMin: config.diskFreeBytesMin, log });
  closer.add('disk guard', { close: () => disk.close() });
  const pool = createPool({ url: relational.url, name: 'load', log, max: LOAD_CONNECTIONS_MAX });
  closer.add('load pool', { close: () => pool.end() });
  const { eventsRetentionDays, loadLingerMs: lingerMs } = config;
  const load = startAggregator(
    { pool, warehouse, reader: logReader, clock: systemClock, log, metrics, disk, eventsRetentionDays },
    { owner: OWNER, lingerMs },
  );
  load.failed.catch(fail);
  return load;
}
