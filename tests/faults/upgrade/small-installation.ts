import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { checkServerSecret, ensureIdentityKey } from '../../../domain/secrets.ts';
import { openKeyTable } from '../../../infra/key-table/open-key-table.ts';
import { createCloser } from '../../../infra/platform/closer.ts';
import { dataDirAt } from '../../../infra/platform/data-dir.ts';
import { startEmbeddedPostgres } from '../../../infra/postgres/embedded.ts';
import { migratePostgres } from '../../../infra/postgres/migrate.ts';
import { createPool } from '../../../infra/postgres/pool.ts';
import { openSegmentLogReader } from '../../../infra/segment-log/reader.ts';
import { openSegmentLogWriter } from '../../../infra/segment-log/writer.ts';
import { createIdentity } from '../../../ingest/identity.ts';
import { frameOf } from '../../support/load-frames.ts';
import { queryPostgres } from '../query-postgres.ts';

export type Installation = Awaited<ReturnType<typeof makeInstallation>>;

const FRAMES = 3;
const FRAME_EVENTS = 100;
/** Less than a frame: each gets a segment of its own. */
const SEGMENT_BYTES_MAX = 10_000;
const MAKE_NEWER = 'INSERT INTO migrations (number) VALUES (9999)';
const log = pino({ level: 'silent' });

const CLOSE_STEP_MS = 15_000;

/**
 * A database, and a data folder with a log of three segments and its keys, to be copied and harmed. What
 * fails half way leaves nothing behind.
 */
export async function makeInstallation() {
  const closer = createCloser(log, { stepTimeoutMs: CLOSE_STEP_MS });
  try {
    const folder = mkdtempSync(join(tmpdir(), 'metergate-installation-'));
    closer.add('folder', { close: () => rmSync(folder, { recursive: true, force: true }) });
    chmodSync(folder, 0o755); // Postgres may run under another account
    const postgres = await startEmbeddedPostgres({ directory: join(folder, 'postgres'), log });
    closer.add('postgres', { close: () => postgres.stop() });
    await migratePostgres(postgres.url);
    const secret = randomBytes(32);
    const dataDir = join(folder, 'data');
    const { logId, end } = await writeData(dataDir, await identityCheckOf(postgres.url, secret, dataDir));
    await queryPostgres(
      postgres.url,
      `INSERT INTO log_ranges (log_id, partition, lo, hi, epoch, state, event_count, checksum, through_ms,
         filled_to)
       VALUES ('${logId}', 0, 0, ${end}, 1, 'settled', ${FRAMES * FRAME_EVENTS}, 0, 0, 4)`,
    );
    return {
      dataDir,
      /** With which its processes run. */
      env: { DATABASE_URL: postgres.url, SERVER_SECRET: secret.toString('base64') } as Record<string, string>,
      /** URL of another database, in which a later release was. */
      newerDatabase: () => makeDatabase(postgres.url, 'newer', 'postgres', MAKE_NEWER),
      /** URL of another database, which has loaded nothing of the log. */
      notLoaded: () => makeDatabase(postgres.url, 'not_loaded', 'postgres', 'DELETE FROM log_ranges'),
      /** URL of one that was never used. */
      emptyDatabase: () => makeDatabase(postgres.url, 'empty', 'template1'),
      remove: () => closer.close(),
    };
  } catch (error) {
    await closer.close();
    throw error;
  }
}

/** Of an identity key that is made under this secret. */
async function identityCheckOf(url: string, secret: Buffer, dataDir: string): Promise<Uint8Array> {
  const pool = createPool({ url: () => url, name: 'test', log });
  try {
    await checkServerSecret(pool, secret, dataDir);
    return createIdentity(await ensureIdentityKey(pool)).check;
  } finally {
    await pool.end();
  }
}

/** Gives the log's id and its end. */
async function writeData(
  dataDir: string,
  identityCheck: Uint8Array,
): Promise<{ logId: string; end: number }> {
  const paths = dataDirAt(dataDir);
  const opening = { directory: paths.log, identityCheck, segmentBytesMax: SEGMENT_BYTES_MAX, log };
  const writer = await openSegmentLogWriter(opening);
  for (let frame = 0; frame < FRAMES; frame++) {
    const events = Array.from({ length: FRAME_EVENTS }, (_, at) => ({ id: `event ${frame} ${at}` }));
    await writer.append(frameOf(writer.logId, events, Date.now()));
  }
  await writer.close();
  const logReader = await openSegmentLogReader({ directory: paths.log });
  const keys = await openKeyTable({ directory: paths.keys, identityCheck, logReader, log });
  await keys.close();
  const end = await logReader.durableEnd(0);
  await logReader.close();
  return { logId: Buffer.from(logReader.logId).toString('hex'), end };
}

/** Another database in the same server. */
async function makeDatabase(url: string, name: string, template: string, change?: string): Promise<string> {
  await queryPostgres(url, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const made = new URL(url);
  made.pathname = `/${name}`;
  if (change !== undefined) await queryPostgres(made.href, change);
  return made.href;
}
