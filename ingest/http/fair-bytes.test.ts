import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { KeyCache } from '../../domain/api-key-cache.ts';
import { createNodeFront } from '../../infra/http/node-front.ts';
import { createUwsFront } from '../../infra/http/uws-front.ts';
import { createRejectionLog } from '../../infra/platform/rejection-log.ts';
import { type CreateFront, startFront } from '../../infra/ports/conformance/front-under-test.ts';
import {
  openConnection,
  type RawConnection,
  requestHead,
  until,
} from '../../tests/support/raw-connection.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { NO_BACKFILLS, NO_LISTENERS } from '../events/listeners-under-test.ts';
import { createUsageMetrics } from '../metrics.ts';
import { createAccept } from './accept.ts';
import { createAdmission } from './admission.ts';

const MEBIBYTE = 1024 * 1024;
const POOL_BYTES = 8 * MEBIBYTE;

/** A key's text is the name of its environment. */
const keys = {
  authenticate: (environment: string) => ({
    ...{ id: 'key', kind: 'secret', scopes: ['*'], expiresAtMs: undefined, revoked: false },
    environment,
  }),
} as unknown as KeyCache;

async function startUsage(createFront: CreateFront) {
  const admission = createAdmission(POOL_BYTES);
  const accept = createAccept({
    keys,
    admission,
    begin: (_, reply) => reply.respond({ status: 200, replayed: false, body: Buffer.from('{}') }, 0),
    listeners: NO_LISTENERS,
    backfills: NO_BACKFILLS,
    isDiskLow: () => false,
    metrics: createUsageMetrics(new Registry(), { inFlightBytes: () => admission.held }),
    rejections: createRejectionLog(SILENT),
    log: SILENT,
    fail: () => undefined,
  });
  const { port } = await startFront(createFront, (exchange) => accept(exchange, 'batch'));
  return { admission, port };
}

/** All of a body of 1 MiB but for its last byte. */
async function sendMost(port: number, key: string): Promise<RawConnection> {
  const client = await openConnection(port);
  const headers = [`X-API-Key: ${key}`, 'Content-Type: application/json', `Content-Length: ${MEBIBYTE}`];
  client.send(requestHead('POST /api/v1/usage/events/batch HTTP/1.1', headers));
  client.send(Buffer.alloc(MEBIBYTE - 1, ' '));
  return client;
}

/*
 * Red with one bound for all environments: while 70 bodies of one key stalled, every other key got a 503
 * until they were cut off, and then again.
 */
it.each<[string, CreateFront]>([
  ['uWebSockets.js', createUwsFront],
  ['node:http', createNodeFront],
])('bodies of one key that stall leave room for those of another, behind %s', async (_, createFront) => {
  const { admission, port } = await startUsage(createFront);
  const stalled = await Promise.all(Array.from({ length: 12 }, () => sendMost(port, 'a')));
  const responded = () => stalled.filter((client) => client.received().includes(' 503 ')).length;
  await until('what is beyond the share is rejected', () => responded() === 8);
  expect(admission.held).toBeLessThanOrEqual(POOL_BYTES / 2);
  const other = await sendMost(port, 'b');
  other.send('}');
  expect((await other.response()).status).toBe(200);
});
