import pRetry from 'p-retry';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { waitForIdentityKey } from '../../domain/secrets.ts';
import type { KeyTable } from '../../infra/key-table/key-table.ts';
import { openKeyTable } from '../../infra/key-table/open-key-table.ts';
import type { DataDir } from '../../infra/platform/data-dir.ts';
import { createDiskGuard } from '../../infra/platform/disk-guard.ts';
import { retryUntilAvailable } from '../../infra/platform/retry-until-available.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import { readLogIdentity } from '../../infra/segment-log/log-identity.ts';
import { openSegmentLogReader } from '../../infra/segment-log/reader.ts';
import { openSegmentLogWriter, type SegmentLogWriter } from '../../infra/segment-log/writer.ts';
import { createBeginUsage } from '../../ingest/begin-usage.ts';
import { earlierKeys } from '../../ingest/embedded/earlier-keys.ts';
import { createGroupCommit } from '../../ingest/embedded/group-commit.ts';
import { startTrimming } from '../../ingest/embedded/trim-log.ts';
import { createStamps } from '../../ingest/engine/created-at.ts';
import { createWasmEngine } from '../../ingest/engine/wasm/wasm-engine.ts';
import { createAccept } from '../../ingest/http/accept.ts';
import { createAdmission } from '../../ingest/http/admission.ts';
import { createIdentity } from '../../ingest/identity.ts';
import { countLog, createUsageMetrics } from '../../ingest/metrics.ts';
import { createOwnBatches } from '../../ingest/own-usage/own-batches.ts';
import { countedEnd } from '../../ingest/store/counted-end.ts';
import { raiseKeptFrom } from '../../ingest/store/raise-kept-from.ts';
import { rejectLostLog } from '../../ingest/store/reject-lost-log.ts';
import { Transient } from '../../schemas/failures.ts';
import { type DataPlane, openCaches, type UsagePath } from './data-plane.ts';

export interface EmbeddedDataPlane extends DataPlane {
  paths: DataDir;
}

/** Each try reads all keys again, and what is missing may be unavailable for long. */
const KEYS_RETRY = { retries: Number.POSITIVE_INFINITY, minTimeout: 1_000, factor: 2, maxTimeout: 60_000 };

/** No disk that is in order takes so long to write a frame. */
const HANGS_MS = 5_000;

const readCountedEnd = (pool: Pool, logId: Uint8Array, log: Logger) =>
  retryUntilAvailable('Postgres', () => countedEnd(pool, hex(logId)), log);

/** Opens what acknowledgements need, oldest first. */
export async function openEmbeddedUsage(dataPlane: EmbeddedDataPlane): Promise<UsagePath> {
  const { config, paths, log, metrics, closer, pool } = dataPlane;
  const identity = createIdentity(await waitForIdentityKey(pool, log));
  const writer = await openLog(dataPlane, identity.check);
  const store = await openKeys(dataPlane, identity.check);
  closer.add('keys', { close: () => store.close() });
  keepLogShort(dataPlane, writer, store);
  const guard = createDiskGuard({ directory: paths.root, bytesMin: config.diskFreeBytesMin, log });
  closer.add('disk guard', { close: () => guard.close() });

  const { keys, registry, listeners } = openCaches(dataPlane);
  const admission = createAdmission(config.ingest.inFlightBytesMax);
  const usageMetrics = createUsageMetrics(metrics, {
    inFlightBytes: () => admission.held,
    keys: () => store.keyCount,
  });
  const { createdAtMs, arrivalOf, committedAtMs } = createStamps(systemClock);
  const groupCommit = createGroupCommit({
    log: writer,
    store,
    clock: { ...systemClock, nowMs: committedAtMs },
    onFrame: usageMetrics.frame,
  });
  closer.add('commits', { drain: () => groupCommit.drain() });
  // Behind the front, which waits for them a while, and before what they would commit to.
  closer.add('reads of keys', { drain: () => store.stopReading() });
  groupCommit.failed.catch(dataPlane.fail);
  const engine = createWasmEngine({
    registry,
    store,
    createdAtMs,
    arrivalOf,
    limits: { ageMsMax: config.ingest.eventAgeMsMax, aheadMsMax: config.ingest.eventAheadMsMax },
    identityOf: identity.keyOf,
  });
  const begin = createBeginUsage(engine, groupCommit);
  return {
    keys,
    sendOwn: createOwnBatches({ begin, isDiskLow: guard.isLow, created: usageMetrics.eventsCreated }),
    accept: createAccept({
      keys,
      admission,
      begin,
      listeners,
      backfills: registry,
      isDiskLow: guard.isLow,
      metrics: usageMetrics,
      rejections: dataPlane.rejections,
      log,
      fail: dataPlane.fail,
    }),
    blockers: () => ({
      ...(guard.isLow() ? { disk: 'is nearly full: no usage is taken' } : {}),
      ...(groupCommit.writingMs() > HANGS_MS ? { log: 'a write to it hangs: no usage is acknowledged' } : {}),
    }),
  };
}

async function openLog(
  { config, paths, log, closer, pool }: EmbeddedDataPlane,
  identityCheck: Uint8Array,
): Promise<SegmentLogWriter> {
  const known = readLogIdentity(paths.log);
  if (!known) await rejectLostLog(pool, paths.log);
  const writer = await openSegmentLogWriter({
    directory: paths.log,
    identityCheck,
    log,
    segmentBytesMax: config.log.segmentBytesMax,
    countedEnd: known ? await readCountedEnd(pool, known.logId, log) : 0,
  });
  closer.add('log', { close: () => writer.close() });
  return writer;
}

function keepLogShort(dataPlane: EmbeddedDataPlane, writer: SegmentLogWriter, keys: KeyTable): void {
  const { config, closer, log, metrics, pool } = dataPlane;
  const logId = hex(writer.logId);
  const raise = (before: number) => raiseKeptFrom(pool, { logId, before });
  const deps = { retention: writer, keys, raiseKeptFrom: raise, clock: systemClock, log };
  const trimming = startTrimming(deps, config.log.keepMs);
  closer.add('trimming', { drain: () => trimming.close() });
  countLog(metrics, writer);
}

/** Requests what they need of the control side until it comes: with keys missing nothing is decided. */
function openKeys(dataPlane: EmbeddedDataPlane, identityCheck: Uint8Array): Promise<KeyTable> {
  const { paths, log, endpointDiscovery, opening, secrets } = dataPlane;
  const control = { controlUrl: endpointDiscovery.controlUrl, token: secrets().internalToken };
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

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
