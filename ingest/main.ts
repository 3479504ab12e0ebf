/**
 * The data plane's process: takes usage events, acknowledges them once they are durable, forwards all else.
 */
import pRetry from 'p-retry';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../infra/config.ts';
import { type DataDir, prepareDataDir } from '../infra/data-dir.ts';
import { createDiskGuard } from '../infra/disk-guard.ts';
import { createFirstCallStamp } from '../infra/first-call-stamp.ts';
import { chooseFront } from '../infra/http/choose-front.ts';
import { FRONT_LIMITS } from '../infra/http/front-limits.ts';
import { createKeyCache, type KeyCache } from '../infra/key-cache.ts';
import type { KeyTable } from '../infra/key-table/key-table.ts';
import { openKeyTable } from '../infra/key-table/open-key-table.ts';
import { createLastUsedStamp } from '../infra/last-used-stamp.ts';
import { createMetrics } from '../infra/metrics.ts';
import { poll } from '../infra/poll.ts';
import { systemClock } from '../infra/ports/clock.ts';
import type { Exchange, HttpFront } from '../infra/ports/http-front.ts';
import { createListener } from '../infra/postgres/listen.ts';
import { createPool } from '../infra/postgres/pool.ts';
import { identityOf } from '../infra/process-identity.ts';
import { acquireLock } from '../infra/process-lock.ts';
import { type RoleContext, runRole } from '../infra/role-process.ts';
import {
  type DerivedSecrets,
  deriveSecrets,
  hashApiKey,
  readServerSecret,
  waitForIdentityKey,
} from '../infra/secrets.ts';
import { openSegmentLogReader } from '../infra/segment-log/reader.ts';
import { openSegmentLogWriter, type SegmentLogWriter } from '../infra/segment-log/writer.ts';
import { findApiKey } from '../infra/store/find-api-key.ts';
import { CHANNELS, type ChangeNote } from '../schemas/channels.ts';
import { ERROR_STATUS, errorBody } from '../schemas/error-codes.ts';
import { Fatal, Transient } from '../schemas/failures.ts';
import { createAccept } from './accept.ts';
import { createAdmission } from './admission.ts';
import { earlierKeys } from './earlier-keys.ts';
import { createCreatedAt } from './engine/created-at.ts';
import { createFastEngine } from './engine/fast-engine.ts';
import { createForwarder } from './forward.ts';
import { createGroupCommit } from './group-commit.ts';
import { createIdentity } from './identity.ts';
import { countLog, createUsageMetrics } from './metrics.ts';
import { createOperations } from './operations.ts';
import { createRegistry, type Registry as UsageRegistry } from './registry.ts';
import { raiseKeptFrom } from './store/raise-kept-from.ts';
import { startTrimming } from './trim-log.ts';
import { type UsageOperation, usageOperation } from './usage-operation.ts';
import { createWhereabouts, type Whereabouts } from './whereabouts.ts';

interface DataPlane extends RoleContext {
  paths: DataDir;
  metrics: Registry;
  whereabouts: Whereabouts;
  pool: Pool;
  /** Read when they are first needed: the control side makes their file at the very first start. */
  secrets(): DerivedSecrets;
  /** Why usage is not taken yet, for readyz. */
  opening: { why: string };
}

type Accept = (exchange: Exchange, operation: UsageOperation) => void;

const POOL_CONNECTIONS_MAX = 4;
const REGISTRY_ENTRIES_MAX = 200_000;
/** Each try reads all keys again, and what is missing may stay away for long. */
const KEYS_RETRY = { retries: Number.POSITIVE_INFINITY, minTimeout: 1_000, factor: 2, maxTimeout: 60_000 };
const LISTEN_PATIENCE = { timeoutMs: 3_000, everyMs: 100 };
/** Well under what the supervisor grants. */
const DRAIN_MS = 3_000;

await runRole('ingest', async (context) => {
  const { config, closer } = context;
  const paths = prepareDataDir(config.dataDir);
  const release = await acquireLock(paths.lock('ingest'), { waitMs: 0, keeper: identityOf(process.ppid) });
  closer.add('lock', { close: release });
  const whereabouts = createWhereabouts(paths.endpoints, systemClock, config.databaseUrl);
  const url = () => whereabouts.postgresUrl() ?? '';
  const pool = createPool({ url, name: 'ingest', log: context.log, max: POOL_CONNECTIONS_MAX });
  closer.add('pool', { close: () => pool.end() });
  const opening = { why: 'the log and the keys are being opened' };
  const metrics = createMetrics('ingest');
  const secrets = secretsOf(config, paths);
  return await serve({ ...context, paths, metrics, whereabouts, pool, secrets, opening });
});

function secretsOf({ serverSecret: given }: Config, { root: dataDir }: DataDir): () => DerivedSecrets {
  let secrets: DerivedSecrets | undefined;
  return () => {
    secrets ??= deriveSecrets(readServerSecret({ given, dataDir }));
    return secrets;
  };
}

/** Listens at once; usage is answered 503 until the log and the keys stand open. Resolves when they do. */
async function serve(dataPlane: DataPlane): Promise<{ port: number }> {
  const { config, closer, log, metrics, whereabouts, opening } = dataPlane;
  let accept: Accept = refuseWhileOpening;
  let obstacles = (): Record<string, string> => ({ opening: opening.why });

  const forwarder = createForwarder({ target: whereabouts.controlUrl, log });
  closer.add('forwarder', { close: () => forwarder.close() });
  const operations = createOperations({
    metrics,
    controlUrl: whereabouts.controlUrl,
    obstacles: () => obstacles(),
  });
  const front = await chooseFront(
    (exchange) => {
      const operation = usageOperation(exchange);
      if (operation) accept(exchange, operation);
      else if (!operations(exchange)) forwarder.forward(exchange);
    },
    { ...FRONT_LIMITS, connectionsMax: config.ingest.connectionsMax },
    log,
  );
  const port = await listen(front, config);
  log.info({ port }, 'the data plane listens');

  const path = await openUsagePath(dataPlane);
  // Last opened, first drained: no request may come when the log is closed.
  closer.add('front', { drain: () => front.close(DRAIN_MS) });
  accept = path.accept;
  obstacles = path.obstacles;
  return { port };
}

/** A port that is still held by what runs no more comes free in a moment; one that another holds does not. */
async function listen(front: HttpFront, { host, port }: Config): Promise<number> {
  let cause: unknown;
  const attempt = () =>
    front.listen(host, port).catch((error: unknown) => {
      cause = error;
      return undefined;
    });
  const listening = await poll(attempt, LISTEN_PATIENCE);
  if (listening !== undefined) return listening;
  const message = `${host}:${port} is taken or not ours: set HOST and PORT to a free address.`;
  throw new Fatal('listen_failed', message, { cause });
}

interface UsagePath {
  accept: Accept;
  obstacles: () => Record<string, string>;
}

/** Opens what an acknowledgement stands on, oldest first. */
async function openUsagePath(dataPlane: DataPlane): Promise<UsagePath> {
  const { config, paths, log, metrics, closer, pool, whereabouts } = dataPlane;
  const identity = createIdentity(await waitForIdentityKey(pool, log));
  const { segmentBytesMax } = config.log;
  const opening = { directory: paths.log, identityCheck: identity.check, segmentBytesMax, log };
  const writer = await openSegmentLogWriter(opening);
  closer.add('log', { close: () => writer.close() });
  const store = await openKeys(dataPlane, identity.check);
  closer.add('keys', { close: () => store.close() });
  keepLogShort(dataPlane, writer, store);
  const guard = createDiskGuard({ directory: paths.root, bytesMin: config.diskFreeBytesMin, log });
  closer.add('disk guard', { close: () => guard.close() });

  const keys = openKeyCache(dataPlane);
  const registry = createRegistry(pool, { entriesMax: REGISTRY_ENTRIES_MAX, clock: systemClock });
  closer.add('listener', listenForChanges(whereabouts, { keys, registry, log }));

  const admission = createAdmission(config.ingest.inFlightBytesMax);
  const usageMetrics = createUsageMetrics(metrics, {
    inFlightBytes: () => admission.inFlightBytes,
    keys: () => store.keyCount,
  });
  const groupCommit = createGroupCommit({
    log: writer,
    store,
    clock: systemClock,
    onFrame: usageMetrics.frame,
  });
  closer.add('commits', { drain: () => groupCommit.drain() });
  groupCommit.failed.catch(dataPlane.fail);
  const engine = createFastEngine({
    registry,
    store,
    createdAtMs: createCreatedAt(systemClock),
    limits: { ageMsMax: config.ingest.eventAgeMsMax, aheadMsMax: config.ingest.eventAheadMsMax },
    identityOf: identity.keyOf,
  });
  return {
    accept: createAccept({
      keys,
      admission,
      engine,
      groupCommit,
      isDiskLow: guard.isLow,
      metrics: usageMetrics,
      log,
    }),
    obstacles: () => (guard.isLow() ? { disk: 'is nearly full: no usage is taken' } : {}),
  };
}

function keepLogShort(dataPlane: DataPlane, writer: SegmentLogWriter, keys: KeyTable): void {
  const { config, closer, log, metrics, pool } = dataPlane;
  const logId = hex(writer.logId);
  const raise = (before: number) => raiseKeptFrom(pool, { logId, before });
  const deps = { retention: writer, keys, raiseKeptFrom: raise, clock: systemClock, log };
  const trimming = startTrimming(deps, config.log.keepMs);
  closer.add('trimming', { drain: () => trimming.close() });
  countLog(metrics, writer);
}

/** Asks the control side for what they need of it until it comes: with keys missing nothing is decided. */
function openKeys(dataPlane: DataPlane, identityCheck: Uint8Array): Promise<KeyTable> {
  const { paths, log, whereabouts, opening, secrets } = dataPlane;
  const control = { controlUrl: whereabouts.controlUrl, token: secrets().internalToken };
  const open = async () => {
    const logReader = await openSegmentLogReader({ directory: paths.log });
    const logId = hex(logReader.logId);
    const earlierRecords = (before: number) => earlierKeys(control, { logId, before });
    return await openKeyTable({
      directory: paths.keys,
      identityCheck,
      logReader,
      earlierRecords,
      log,
    }).finally(() => logReader.close());
  };
  return pRetry(open, {
    ...KEYS_RETRY,
    shouldRetry: ({ error }) => error instanceof Transient,
    onFailedAttempt: ({ error }) => {
      if (!(error instanceof Transient)) return;
      log.warn({ err: error }, 'the keys cannot be opened yet');
      opening.why = error.message;
    },
  });
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
      // Behind the answer, and only when a key is looked up: no request of the hot path pays for it.
      if (key && !key.revoked) {
        firstCalls.saw(key.environment);
        lastUsed.saw(key.id, systemClock.nowMs());
      }
      return key;
    },
    clock: systemClock,
  });
}

interface Caches {
  keys: KeyCache;
  registry: UsageRegistry;
  log: Logger;
}

function listenForChanges(whereabouts: Whereabouts, { keys, registry, log }: Caches) {
  const clear = () => {
    keys.clear();
    registry.clear();
  };
  return createListener(
    { url: () => whereabouts.postgresUrl() ?? '', log },
    {
      channels: {
        [CHANNELS.changes]: (payload) => {
          const note = JSON.parse(payload) as ChangeNote;
          keys.forget(note);
          registry.forget(note);
        },
      },
      onSession: clear,
    },
  );
}

function refuseWhileOpening(exchange: Exchange): void {
  const refusal = { code: 'unavailable', message: 'Metergate is starting; send it again.' } as const;
  const headers = { 'content-type': 'application/json', 'retry-after': '1' };
  exchange.respond(ERROR_STATUS.unavailable, headers, Buffer.from(errorBody(refusal, exchange.requestId)));
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
