import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { encodeKeyTrailer } from '../../schemas/stored/key-export.ts';
import { RECORD_BYTES } from '../../schemas/stored/record.ts';
import { listenUntil } from '../../tests/support/listen.ts';
import { earlierKeys } from './earlier-keys.ts';

const WANTED = { logId: 'ab'.repeat(16), before: 4_096 };
const TOKEN = Buffer.alloc(32, 5);
const RECORDS = randomBytes(1_000 * RECORD_BYTES);
const OTHER_BYTE = Buffer.from([~(RECORDS[0] ?? 0)]);

const whole = (changes = {}) =>
  encodeKeyTrailer({ recordsCrc: crc32(RECORDS), recordCount: 1_000, countMin: 900, ...changes });

it('gives every record, however the stream is cut', async () => {
  for (const pieceBytes of [1_000_000, 4_096, 39, 41]) {
    const { url, requested } = await serveBytes([...pieces(Buffer.concat([RECORDS, whole()]), pieceBytes)]);
    expect(Buffer.compare(await taken(url), RECORDS)).toBe(0);
    expect(requested).toEqual([
      `/internal/keys?log=${WANTED.logId}&before=4096 Internal ${TOKEN.toString('base64url')}`,
    ]);
  }
});

it('gives nothing but the trailer where there was nothing', async () => {
  const { url } = await serveBytes([encodeKeyTrailer({ recordsCrc: 0, recordCount: 0, countMin: 0 })]);
  expect(await taken(url)).toHaveLength(0);
});

// Each goes red when its check is taken out: keys would silently be missing.
it.each([
  ['without its trailer', 'keys_unavailable', [RECORDS]],
  ['with a record less', 'keys_unavailable', [RECORDS.subarray(RECORD_BYTES), whole()]],
  ['with another byte', 'keys_unavailable', [OTHER_BYTE, RECORDS.subarray(1), whole()]],
  ['with a part of a record', 'keys_unavailable', [RECORDS, Buffer.alloc(7), whole()]],
  ['with nothing at all', 'keys_unavailable', []],
  ['of a warehouse that lost events', 'keys_incomplete', [RECORDS, whole({ countMin: 1_001 })]],
])('a stream %s is %s', async (_, code, bytes) => {
  const { url } = await serveBytes(bytes);
  await expect(taken(url)).rejects.toMatchObject({ name: 'Transient', code });
});

// Red when it names a setting: EVENTS_RETENTION_DAYS, as was advised once, deletes what is left.
it('following the message about lost events deletes nothing', async () => {
  const { url } = await serveBytes([RECORDS, whole({ countMin: 1_050 })]);
  const message = String(await taken(url).catch((error) => error));
  expect(message).toContain('of 1050 events');
  expect(message).toContain('take so many off `events` in the table `log_trims`');
  expect(message).not.toMatch(/RETENTION/);
});

it('a broken connection, an invalid response and no listener at all are `keys_unavailable`', async () => {
  const unavailable = { name: 'Transient', code: 'keys_unavailable' };
  const broken = await serve((response) => {
    response.write(RECORDS, () => response.destroy());
  });
  await expect(taken(broken.url)).rejects.toMatchObject(unavailable);
  const rejecting = await serve((response) => void response.writeHead(503).end());
  await expect(taken(rejecting.url)).rejects.toMatchObject(unavailable);
  await expect(taken('http://127.0.0.1:1')).rejects.toMatchObject(unavailable);
  await expect(taken(undefined)).rejects.toMatchObject(unavailable);
});

async function taken(url: string | undefined): Promise<Buffer> {
  const found: Buffer[] = [];
  for await (const records of earlierKeys({ controlUrl: () => url, token: TOKEN }, WANTED)) {
    expect(records.length % RECORD_BYTES).toBe(0);
    found.push(Buffer.from(records));
  }
  return Buffer.concat(found);
}

function* pieces(bytes: Buffer, pieceBytes: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

function serveBytes(bytes: Buffer[]) {
  return serve((response) => {
    for (const piece of bytes) response.write(piece);
    response.end();
  });
}

async function serve(
  respond: (response: ServerResponse) => void,
): Promise<{ url: string; requested: string[] }> {
  const requested: string[] = [];
  const server = createServer(({ url, headers }, response) => {
    requested.push(`${url} ${headers.authorization}`);
    respond(response);
  });
  const { url } = await listenUntil(onTestFinished, server);
  return { url, requested };
}
