import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createNodeFront } from '../../infra/http/node-front.ts';
import { createUwsFront } from '../../infra/http/uws-front.ts';
import { createRejectionLog } from '../../infra/platform/rejection-log.ts';
import { type CreateFront, keptLog } from '../../infra/ports/conformance/front-under-test.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import {
  openConnection,
  type RawConnection,
  requestHead,
  until,
} from '../../tests/support/raw-connection.ts';
import { createForwardMetrics } from '../metrics.ts';
import { type BodyBufferLimits, createBodyBuffer } from './buffer-body.ts';
import { startForwarder, startUpstream } from './forwarder-under-test.ts';

describe('slow bodies behind uWebSockets.js', () => slowBodies(createUwsFront));
describe('slow bodies behind node:http', () => slowBodies(createNodeFront));

/** Longer than any test takes: what is tested is not that they end. */
const LIMITS: BodyBufferLimits = {
  bodyBytesMax: 10_000,
  keyedBytesMax: 80_000,
  keyedMs: 60_000,
  strangersBytesMax: 30_000,
  strangersMs: 60_000,
};

/** The header X-Env acts as a key of that environment. */
const senderOf = ({ headers }: Pick<Exchange, 'headers'>) => headers.get('x-env');

const bodiesOf = (limits: Partial<BodyBufferLimits> = {}) => createBodyBuffer({ ...LIMITS, ...limits });

async function send(
  port: number,
  { env, announced, sent }: { env?: string; announced: number; sent: number },
) {
  const client = await openConnection(port);
  const headers = [`Content-Length: ${announced}`, ...(env ? [`X-Env: ${env}`] : [])];
  client.send(requestHead('POST /api/v1/events/funnel?key=pk HTTP/1.1', headers));
  client.send(randomBytes(sent));
  return client;
}

const sendMany = (count: number, port: number, what: Parameters<typeof send>[1]): Promise<RawConnection[]> =>
  Promise.all(Array.from({ length: count }, () => send(port, what)));

const statusOf = (client: RawConnection) => Number(/^HTTP\/1.1 (\d+)/.exec(client.received())?.[1] ?? 0);

function slowBodies(createFront: CreateFront): void {
  // Red when a request takes its place before its body is there: with 256 half-sent bodies without a key,
  // every other client got a 503.
  it.each([undefined, 'a:live'])(
    'hold no place at the control plane, with or without a key (%s)',
    async (env) => {
      const upstream = await startUpstream((req, res) => void req.pipe(res));
      const options = { target: () => upstream, senderOf, bodies: bodiesOf(), inFlightMax: 8 };
      const { port, url } = await startForwarder(createFront, options);
      const slow = await sendMany(20, port, { ...(env ? { env } : {}), announced: 500, sent: 100 });
      expect((await fetch(`${url}/api/v1/plans`)).status).toBe(200);
      expect((await fetch(url, { method: 'POST', body: 'whole' })).status).toBe(200);
      expect(new Set(slow.map(statusOf))).toEqual(new Set([0]));
      slow[0]?.send(randomBytes(400));
      expect((await slow[0]?.response())?.status).toBe(200);
    },
  );

  it('without a key get a response and are closed after their time, counted and logged', async () => {
    const { log, lines } = keptLog();
    const registry = new Registry();
    const upstream = await startUpstream((_, res) => res.end('reached'));
    const bodies = bodiesOf({ strangersMs: 200 });
    const notified = { metrics: createForwardMetrics(registry), rejections: createRejectionLog(log) };
    const { port } = await startForwarder(createFront, {
      target: () => upstream,
      senderOf,
      bodies,
      ...notified,
    });
    const keyed = await send(port, { env: 'a:live', announced: 500, sent: 100 });
    const strange = await send(port, { announced: 500, sent: 100 });
    await strange.receives('took too long');
    expect(statusOf(strange)).toBe(400);
    await strange.closed(20_000);
    expect(await registry.metrics()).toContain('metergate_forward_refusals_total{code="invalid_request"} 1');
    const requestId = /"requestId":"([^"]+)"/.exec(strange.received())?.[1];
    expect(lines).toMatchObject([{ requestId, code: 'invalid_request', path: '/api/v1/events/funnel' }]);
    keyed.send(randomBytes(400));
    await keyed.receives('reached');
    expect(bodies.heldBytes()).toBe(0);
  });

  // Red when new clients without a key are rejected while others stall, and when none is.
  it('without a key are cut off, the oldest first, when whole ones need their room', async () => {
    const upstream = await startUpstream((_, res) => res.end('reached'));
    const bodies = bodiesOf({ strangersBytesMax: 35_000 });
    const { port, url } = await startForwarder(createFront, { target: () => upstream, senderOf, bodies });
    const slow = await sendMany(3, port, { announced: 10_000, sent: 9_000 });
    await until('their bytes are held', () => bodies.heldBytes() >= 27_000);
    for (let round = 0; round < 5; round += 1) {
      expect((await fetch(url, { method: 'POST', body: randomBytes(9_999) })).status).toBe(200);
    }
    const rejected = slow.filter((client) => statusOf(client) === 503);
    expect([slow.length - rejected.length, rejected.length].sort()).toEqual([1, 2]);
    expect(bodies.heldBytes()).toBeLessThanOrEqual(35_000);
    for (const client of slow) client.socket.destroy();
    await until('nothing is held', () => bodies.heldBytes() === 0);
  });

  it('of one environment leave room for those of another', async () => {
    const upstream = await startUpstream((_, res) => res.end('reached'));
    const bodies = bodiesOf();
    const { port } = await startForwarder(createFront, { target: () => upstream, senderOf, bodies });
    const slow = await sendMany(10, port, { env: 'a:live', announced: 10_000, sent: 9_900 });
    await until('what is beyond its share is rejected', () => slow.some((one) => statusOf(one) === 503));
    expect(bodies.heldBytes()).toBeLessThanOrEqual(LIMITS.keyedBytesMax / 2);
    for (const env of ['b:live', 'a:test']) {
      const whole = await send(port, { env, announced: 9_999, sent: 9_999 });
      await whole.receives('reached');
    }
  });

  it('and whole ones without a key take an eighth of the places at most', async () => {
    const held: Array<() => void> = [];
    const upstream = await startUpstream((req, res) => {
      if (req.method === 'GET' || req.headers['x-env']) res.end('reached');
      else held.push(() => res.end('held'));
    });
    const options = { target: () => upstream, senderOf, bodies: bodiesOf(), inFlightMax: 16 };
    const { port, url } = await startForwarder(createFront, options);
    const strange = await sendMany(5, port, { announced: 10, sent: 10 });
    await until('each is held or rejected', () => held.length + rejectedOf(strange) === 5);
    expect(held).toHaveLength(2);
    expect(await (await fetch(url)).text()).toBe('reached');
    const keyed = await send(port, { env: 'a:live', announced: 10, sent: 10 });
    await keyed.receives('reached');
    for (const end of held) end();
    await until('they have a response', () => strange.every((one) => statusOf(one) !== 0));
    expect((await fetch(url, { method: 'POST', body: 'b', headers: { 'x-env': 'a' } })).status).toBe(200);
  });
}

const rejectedOf = (clients: RawConnection[]) => clients.filter((one) => statusOf(one) === 503).length;
