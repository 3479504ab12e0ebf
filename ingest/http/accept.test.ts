import { gzipSync } from 'node:zlib';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { KeyCache } from '../../domain/api-key-cache.ts';
import { createNodeFront } from '../../infra/http/node-front.ts';
import { createUwsFront } from '../../infra/http/uws-front.ts';
import { createRejectionLog } from '../../infra/platform/rejection-log.ts';
import { type CreateFront, startFront } from '../../infra/ports/conformance/front-under-test.ts';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { openConnection, requestHead, until } from '../../tests/support/raw-connection.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import type { BeginUsage } from '../begin-usage.ts';
import { NO_BACKFILLS, NO_LISTENERS } from '../events/listeners-under-test.ts';
import { createUsageMetrics } from '../metrics.ts';
import type { Backfills } from '../registry.ts';
import { createAccept } from './accept.ts';
import { createAdmission } from './admission.ts';

const KEY = { id: 'key', environment: 'ws_a:live', kind: 'secret', scopes: ['*'], revoked: false };
const keys = { authenticate: () => KEY } as unknown as KeyCache;
const OK = { status: 200, replayed: false, body: Buffer.from('{}') };

async function startUsage(createFront: CreateFront, begin: BeginUsage, backfills: Backfills = NO_BACKFILLS) {
  const admission = createAdmission(8 * 1024 * 1024);
  const failures: Fatal[] = [];
  const accept = createAccept({
    keys,
    admission,
    begin,
    listeners: NO_LISTENERS,
    backfills,
    isDiskLow: () => false,
    metrics: createUsageMetrics(new Registry(), { inFlightBytes: () => admission.held }),
    rejections: createRejectionLog(SILENT),
    log: SILENT,
    fail: (error) => failures.push(error),
  });
  const { port, url } = await startFront(createFront, (exchange) => accept(exchange, 'batch'));
  const post = (body: Buffer, headers: Record<string, string> = {}, query = '') =>
    fetch(url + query, {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'content-type': 'application/json', ...headers },
      body: new Uint8Array(body),
    });
  return { admission, failures, port, post };
}

describe.each<[string, CreateFront]>([
  ['uWebSockets.js', createUwsFront],
  ['node:http', createNodeFront],
])('behind %s', (_, createFront) => {
  /** Red when a body is read after its memory went back to the front. */
  test('a body is whole, in one piece, in several and packed', async () => {
    const seen: string[] = [];
    const { admission, port, post } = await startUsage(createFront, ({ body }, reply) => {
      seen.push(body.toString());
      setImmediate(() => reply.respond(OK, 0));
    });
    const texts = [1, 20_000, 900_000].map((length) => `"${'x'.repeat(length)}"`);
    for (const text of texts) {
      expect((await post(Buffer.from(text))).status).toBe(200);
      expect((await post(gzipSync(text), { 'content-encoding': 'gzip' })).status).toBe(200);
    }
    const client = await openConnection(port);
    const headers = ['X-API-Key: k', 'Content-Type: application/json', 'Content-Length: 6'];
    client.send(requestHead('POST / HTTP/1.1', headers));
    for (const [piece, held] of [
      ['[1', 2],
      [',2', 4],
    ] as const) {
      client.send(piece);
      await until('a piece is there', () => admission.held === held);
    }
    client.send(']\n');
    expect((await client.response()).status).toBe(200);
    expect(seen).toEqual([...texts.flatMap((text) => [text, text]), '[1,2]\n']);
    expect(admission.held).toBe(0);
  });

  /** Red when its bytes stay in flight, or when one request at fault harms the next. */
  test.each<[string, number, BeginUsage]>([
    ['has no space', 503, (_, reply) => reply.noSpace()],
    ['fails for a while', 503, (_, reply) => reply.fail(new Transient('keys_unavailable', 'x'))],
    ['fails', 500, (_, reply) => reply.fail(new Error('x'))],
    [
      'makes a response that cannot be sent',
      500,
      (_, reply) => reply.respond({ ...OK, ignored: [undefined as unknown as string] }, 0),
    ],
  ])('usage that %s is %i, and holds nothing', async (_, status, begin) => {
    const { admission, post } = await startUsage(createFront, begin);
    for (let sent = 0; sent < 2; sent++) expect((await post(Buffer.from('{}'))).status).toBe(status);
    expect(admission.held).toBe(0);
  });

  /** Red when it is stored as ordinary usage: it counts before its session is closed. */
  test('usage of a backfill is part of its change, and is not stored without an open one', async () => {
    const found: Record<string, Awaited<ReturnType<Backfills['findBackfill']>> | Error> = {
      open: 7,
      closed: { code: 'illegal_transition', message: 'closed', param: 'backfillId' },
      unknown: { code: 'not_found', message: 'unknown', param: 'backfillId' },
      away: new Transient('postgres_unavailable', 'x'),
    };
    const backfills: Backfills = {
      async findBackfill(environment, id) {
        expect(environment).toBe(KEY.environment);
        const outcome = found[id] ?? 0;
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
    };
    const seen: Array<[string, object | undefined]> = [];
    const begin: BeginUsage = ({ body, change }, reply) => {
      seen.push([body.toString(), change]);
      setImmediate(() => reply.respond(OK, 0));
    };
    const { admission, post } = await startUsage(createFront, begin, backfills);
    const big = Buffer.from(`"${'x'.repeat(900_000)}"`);
    const statuses: number[] = [];
    for (const id of ['open', 'closed', 'unknown', 'away']) {
      statuses.push((await post(big, {}, `?backfillId=${id}`)).status);
    }
    statuses.push((await post(Buffer.from('{}'))).status);
    expect(statuses).toEqual([200, 409, 404, 503, 200]);
    expect(seen).toEqual([
      [big.toString(), { number: 7, voids: false }],
      ['{}', undefined],
    ]);
    expect(admission.held).toBe(0);
  });

  test('a log that fails ends the process, and the client sends again', async () => {
    const fatal = new Fatal('log_write_failed', 'the disk is dead');
    const { failures, post } = await startUsage(createFront, (_, reply) => reply.fail(fatal));
    expect((await post(Buffer.from('{}'))).status).toBe(503);
    expect(failures).toEqual([fatal]);
  });
});
