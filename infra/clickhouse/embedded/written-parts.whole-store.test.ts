import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { eventLines } from '../../../tests/support/event-line.ts';
import { SILENT } from '../../../tests/support/silent-log.ts';
import { testFolder } from '../../../tests/support/test-folder.ts';
import type { EventBlock, Warehouse } from '../../ports/warehouse.ts';
import { SETTINGS_BY_CONNECTION } from '../connection-settings.ts';
import { type ChdbSession, openSession } from './chdb-connection.ts';
import { createChdbWarehouse } from './chdb-warehouse.ts';
import { createDurableWrites } from './durable-writes.ts';
import { createWrittenParts } from './written-parts.ts';

/*
 * A write beyond a process's limit of file sizes fails with EFBIG as one on a full disk does with ENOSPC, and
 * Node ignores the signal that comes with it.
 */

const TIMEOUT_MS = 10_000;
/** The block is sent again, by the next process. */
const UNKNOWN = { name: 'Transient', code: 'warehouse_unavailable' };
const STUCK = { name: 'Fatal', code: 'warehouse_stuck' };

// Red when its part is not measured: files have no bytes, and the next start detaches it.
it('an insert that cannot write is not taken for stored, and ends the process', async () => {
  const { session, directory } = await openTable();
  const notified: unknown[] = [];
  const onFailure = (cause: unknown) => void notified.push(cause);
  const connection = { run: () => Promise.reject(new Error('the insert alone is measured')) };
  const writes = createDurableWrites({ directory, connection, log: SILENT, onFailure });
  onTestFinished(writes.close);
  const insert = () =>
    writes.write(session, ({ client }) =>
      client.command({ query: 'INSERT INTO metergate.t SELECT number FROM numbers(1000)' }),
    );
  await insert();
  expect(notified).toEqual([]);
  await withFilesUpTo(0, async () => {
    await expect(insert()).rejects.toThrow('is empty');
  });
  expect(notified).toEqual([expect.objectContaining({ message: expect.stringContaining('is empty') })]);
});

// Red when the rows that reached the file are taken for all of them.
it('a block for which there is no space is sent again, by the same process', async () => {
  const { warehouse, notified } = await opened();
  await withFilesUpTo(0, async () => {
    await expect(warehouse.insertEvents(block('a', 1_000))).rejects.toMatchObject(UNKNOWN);
  });
  await warehouse.insertEvents(block('a', 1_000));
  expect(notified).toEqual([]);
  const sql = 'SELECT count() AS rows FROM metergate.events';
  const found = await warehouse.query({ sql, connection: 'long', timeoutMs: TIMEOUT_MS });
  expect(found).toEqual([{ rows: '1000' }]);
});

// Red when only what inserts wrote is measured.
it('a merge that cannot write ends the process', async () => {
  const { warehouse, notified, merge } = await opened({ lookEveryMs: 50 });
  for (let at = 0; at < 3; at++) await warehouse.insertEvents(block(`part ${at}`, 100));
  await withFilesUpTo(3_000, merge);
  // Each look reports it again: the process would have ended.
  await expect.poll(() => notified[0]).toMatchObject(STUCK);
});

it('parts that are merged, changed or without rows are whole', async () => {
  const { warehouse, notified, merge } = await opened();
  for (let at = 0; at < 20; at++) await warehouse.insertEvents(block(`part ${at}`, 100));
  await merge();
  await warehouse.query({
    sql: 'ALTER TABLE metergate.usage_hourly DELETE WHERE true SETTINGS mutations_sync = 1',
    ...{ connection: 'long', timeoutMs: TIMEOUT_MS },
  });
  await warehouse.insertEvents(block('after', 100));
  expect(notified).toEqual([]);
});

// Red when files that the checksums do not list are not looked at, or are counted with those they list.
it('a part is not whole with a file emptied, nor with a byte too few', async () => {
  const { client, connection } = (await openTable()).session;
  const parts = createWrittenParts();
  const written = async () => {
    await parts.faultOf(connection);
    await client.command({ query: 'INSERT INTO metergate.t SELECT number FROM numbers(1000)' });
    return await newestPart(client);
  };
  const names = readdirSync(await written());
  expect(names).toEqual(expect.arrayContaining(['data.bin', 'metadata_version.txt', 'checksums.txt']));
  for (const name of names) {
    expect(await parts.faultOf(connection)).toBeUndefined();
    const path = join(await written(), name);
    const whole = readFileSync(path);
    truncateSync(path);
    expect(await parts.faultOf(connection), name).toContain(dirname(path));
    writeFileSync(path, whole);
  }
  const path = await written();
  truncateSync(join(path, 'data.bin'), readFileSync(join(path, 'data.bin')).length - 1);
  expect(await parts.faultOf(connection)).toContain(`${path} has `);
});

async function openTable(): Promise<{ session: ChdbSession; directory: string }> {
  const directory = testFolder();
  const session = await openSession(directory, SETTINGS_BY_CONNECTION.load);
  onTestFinished(() => session.client.close());
  await session.client.command({ query: 'CREATE DATABASE metergate' });
  const table = 'metergate.t (a Int64) ENGINE = MergeTree ORDER BY a';
  await session.client.command({ query: `CREATE TABLE ${table}` });
  await session.client.command({ query: 'SYSTEM STOP MERGES metergate.t' });
  return { session, directory };
}

async function newestPart(client: ChdbSession['client']): Promise<string> {
  const query = `SELECT path FROM system.parts WHERE active AND database = 'metergate'
    ORDER BY max_block_number DESC LIMIT 1`;
  const [part] = await (await client.query({ query, format: 'JSONEachRow' })).json<{ path: string }>();
  return part?.path ?? '';
}

async function opened(options: { lookEveryMs?: number } = {}) {
  const notified: unknown[] = [];
  const onStuck = (error: unknown) => void notified.push(error);
  const warehouse = createChdbWarehouse({ directory: testFolder(), log: SILENT, onStuck, ...options });
  onTestFinished(() => warehouse.close());
  await warehouse.migrate();
  // Its many small parts would be merged by themselves, some while no file can be written.
  await merge(warehouse, 'migrations');
  return { warehouse, notified, merge: () => merge(warehouse, 'events') };
}

async function merge(warehouse: Warehouse, table: string): Promise<void> {
  const sql = `OPTIMIZE TABLE metergate.${table} FINAL`;
  await warehouse.query({ sql, connection: 'long', timeoutMs: TIMEOUT_MS });
}

/** Values that cannot be compressed: what is written of them has at least 4 bytes an event. */
function block(token: string, events: number): EventBlock {
  const lines = eventLines(
    Array.from({ length: events }, (_, at) => ({ id: `use_${token}_${at}`, uniqueValue: randomText() })),
  );
  return { token, lines, timeoutMs: TIMEOUT_MS };
}

const randomText = () => randomBytes(8).toString('hex');

/** No write of this process makes a file longer meanwhile. */
async function withFilesUpTo(bytesMax: number, work: () => Promise<void>): Promise<void> {
  const limit = (bytes: string) => {
    execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`]);
  };
  limit(String(bytesMax));
  try {
    await work();
  } finally {
    limit('unlimited');
  }
}
