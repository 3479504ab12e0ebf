import { createServer, type RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { decodeFrame } from '../../schemas/stored/frame.ts';
import { decodeKeyTrailer, keyExportTarget, lacksKeys } from '../../schemas/stored/key-export.ts';
import { RECORD_BYTES } from '../../schemas/stored/record.ts';
import { shortLine, TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { listenUntil } from '../../tests/support/listen.ts';
import { eventId, type LoggedEvent } from '../../tests/support/load-frames.ts';
import { type LoadStores, openLoadStores } from '../../tests/support/load-stores.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { appendSettled, placeOf, start, startOnStores } from '../aggregator-under-test.ts';
import { exportKeys } from './export-keys.ts';
import { serveKeyExport } from './serve-key-export.ts';
import { storedRecords } from './stored-records.ts';

const TOKEN = Buffer.alloc(32, 3);

describe('an export of keys', () => {
  // Mutants it catches: rejected events left out; all events left out; times or fingerprints mixed up.
  it('has a record of every event on the log, as the log has it, of rejected ones too', async () => {
    const stores = await startOnStores();
    const end = await appendSettled(stores, [
      ...many(40),
      rejected('bad 1'),
      ...many(70, 40),
      rejected('bad 2'),
    ]);
    expect(await rejectedCount(stores)).toBe(2);
    const { records, trailer } = await taken(stores, end);
    expect(records).toEqual(await recordsOnLog(stores));
    expect(trailer).toMatchObject({ recordCount: 112, countMin: 112 });
  });

  // Red when the count leaves out events that are still on the log: newer events would hide lost ones.
  it('detects a warehouse that lost what the log deleted, however many newer events it holds', async () => {
    const stores = await startOnStores();
    const october = many(50).map((event) => ({ ...event, occurredAtMs: Date.UTC(2026, 9, 3) }));
    const first = await appendSettled(stores, [...october, rejected('bad')]);
    const end = await appendSettled(stores, many(200, 50));
    // A range that ends behind the position is not among the events that are recorded there.
    for (const [keptFrom, events] of [
      [0, 0],
      [first - 1, 0],
      [first, 50],
      [end, 250],
    ] as const) {
      await giveUp(stores, { keptFrom, events });
      expect((await taken(stores, end)).trailer).toMatchObject({ recordCount: 251, countMin: 251 });
    }
    await giveUp(stores, { keptFrom: first, events: 50 });
    await stores.rows("ALTER TABLE metergate.events DROP PARTITION '202610'");
    const { trailer } = await taken(stores, end);
    expect(trailer).toMatchObject({ recordCount: 201, countMin: 251 });
    expect(trailer && lacksKeys(trailer)).toBe(true);
  });

  // Red when it is left out of the count until it is settled: it would make up for as many that were lost.
  it('expects what is loaded and not settled yet, and nothing of what is on its way', async () => {
    const stores = await openLoadStores();
    const load = start(stores);
    const first = await appendSettled(stores, many(50));
    await appendSettled(stores, many(20, 50));
    await load.close();
    for (const [state, expected] of [
      ['loaded', 70],
      ['pending', 50],
    ] as const) {
      await stores.pool.query('UPDATE log_ranges SET state = $1 WHERE hi > $2', [state, first]);
      expect((await taken(stores, first)).trailer).toMatchObject({ recordCount: 70, countMin: expected });
    }
  });

  // Red when voids are exported under the ids of the events, or changes not at all: they would count again.
  it('has the records of changes, of voids that were rejected too', async () => {
    const stores = await startOnStores();
    const [plain, added, voided] = [many(20), many(20, 20), many(10)];
    const change = { number: 7, voids: true };
    const bad = shortLine({ id: 'event 11', value: '1e40' });
    const end = await appendSettled(stores, [
      ...plain,
      ...added.map((event) => ({ ...event, change: { number: 8, voids: false } })),
      ...voided.map((event) => ({ ...event, change })),
      ...voided.map((event) => ({ ...event, change: { number: 9, voids: true } })),
      { ...rejected('event 11'), change, line: `"${eventId('event 11')}",${bad}` },
    ]);
    const { records, trailer } = await taken(stores, end);
    expect(records).toEqual(await recordsOnLog(stores));
    expect(trailer).toMatchObject({ recordCount: 61, countMin: 61 });
  });

  it('does not state how many there should be where events are lost or recorded as deleted', async () => {
    const stores = await startOnStores();
    const end = await appendSettled(stores, many(10));
    expect((await taken(stores, end, 500)).trailer).toMatchObject({ recordCount: 10, countMin: 0 });
    await giveUp(stores, { keptFrom: 0, events: -10 });
    await stores.rows('TRUNCATE TABLE metergate.events');
    expect((await taken(stores, end)).trailer).toMatchObject({ recordCount: 0, countMin: 0 });
  });

  // Red when the settlement is not checked: events on their way to the warehouse would be missing.
  it('is rejected while something before the position is not settled', async () => {
    const stores = await openLoadStores();
    const end = await stores.append(many(10));
    await expect(taken(stores, end)).rejects.toMatchObject({ code: 'log_not_settled' });
  });

  it('comes in pieces of so many, whenever they were created, and each event once', async () => {
    const stores = await startOnStores();
    const same = many(30).map((event) => ({ ...event, createdAtMs: TEST_NOW_MS - 500_000 }));
    const spread = many(70, 30).map((event, at) => ({ ...event, createdAtMs: TEST_NOW_MS + at ** 3 }));
    await appendSettled(stores, [...same, ...spread]);
    await stores.rows('INSERT INTO metergate.events SELECT * FROM metergate.events');
    const pieces: number[] = [];
    const found: Buffer[] = [];
    for await (const piece of storedRecords(stores.warehouse, 25)) {
      pieces.push(piece.length / RECORD_BYTES);
      found.push(piece);
    }
    expect(recordsIn(Buffer.concat(found))).toEqual(await recordsOnLog(stores));
    expect(pieces[0]).toBe(30);
    expect(Math.max(...pieces.slice(1))).toBeLessThanOrEqual(25);
  });
});

it('the export needs the token; without it the path is unknown', async () => {
  const stores = await startOnStores();
  const end = await appendSettled(stores, many(5));
  const url = await listen(stores, (_, response) => void response.writeHead(404).end());
  const target = `${url}${keyExportTarget({ logId: placeOf(stores).logId, before: end })}`;
  const get = async (to: string, authorization?: string) => {
    const response = await fetch(to, { headers: authorization === undefined ? {} : { authorization } });
    return [response.status, (await response.arrayBuffer()).byteLength];
  };
  const shown = `Internal ${TOKEN.toString('base64url')}`;
  expect(await get(target, shown)).toEqual([200, 6 * RECORD_BYTES]);
  expect(await get(target)).toEqual([404, 0]);
  expect(await get(target, `Internal ${Buffer.alloc(32).toString('base64url')}`)).toEqual([404, 0]);
  expect(await get(target, 'Internal ')).toEqual([404, 0]);
  expect(await get(`${target}x`, shown)).toEqual([404, 0]);
  const early = `${url}${keyExportTarget({ logId: placeOf(stores).logId, before: end + 1 })}`;
  await expect(get(early, shown)).rejects.toThrow();
});

function many(count: number, from = 0): LoggedEvent[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `event ${from + at}`,
    occurredAtMs: TEST_NOW_MS - (from + at) * 60_000,
    createdAtMs: TEST_NOW_MS + from + at,
  }));
}

/** JSON, as all lines are, and beyond what a column takes. */
function rejected(id: string): LoggedEvent {
  return { id, line: shortLine({ id, value: '1e40' }) };
}

/** As ingest/store does it, and an operator. */
async function giveUp(stores: LoadStores, { keptFrom, events }: { keptFrom: number; events: number }) {
  await stores.pool.query('DELETE FROM log_trims');
  await stores.pool.query(
    'INSERT INTO log_trims (log_id, partition, kept_from, events) VALUES ($1, 0, $2, $3)',
    [placeOf(stores).logId, keptFrom, events],
  );
}

async function rejectedCount({ pool }: LoadStores): Promise<number> {
  return (await pool.query('SELECT count(*) AS lines FROM quarantine')).rows[0].lines;
}

async function taken(stores: LoadStores, before: number, eventsRetentionDays?: number) {
  const found: Buffer[] = [];
  const wanted = { logId: placeOf(stores).logId, before };
  for await (const piece of exportKeys({ ...stores, eventsRetentionDays }, wanted)) found.push(piece);
  return {
    records: recordsIn(Buffer.concat(found.slice(0, -1))),
    trailer: decodeKeyTrailer(found.at(-1) as Buffer),
  };
}

async function recordsOnLog({ reader }: LoadStores): Promise<string[]> {
  const frames = await reader.read(0, 0, 1e9);
  return recordsIn(Buffer.concat(frames.map(({ bytes }) => decodeFrame(bytes).records)));
}

function recordsIn(bytes: Buffer): string[] {
  const records: string[] = [];
  for (let at = 0; at < bytes.length; at += RECORD_BYTES) {
    const record = Buffer.from(bytes.subarray(at, at + RECORD_BYTES));
    records.push(record.toString('hex'));
  }
  return records.sort();
}

async function listen(stores: LoadStores, next: RequestListener): Promise<string> {
  const deps = { ...stores, eventsRetentionDays: undefined, token: TOKEN, log: SILENT };
  return (await listenUntil(onTestFinished, createServer(serveKeyExport(deps, next)))).url;
}
