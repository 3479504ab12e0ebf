import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { startDataPlaneUnderTest } from '../../ingest/data-plane-under-test.ts';
import { ofThisFile } from '../../tests/support/of-this-file.ts';

const plane = await ofThisFile(
  startDataPlaneUnderTest({ INFLIGHT_BYTES_MAX: String(2 * 1024 * 1024) }),
  (started) => started.remove(),
);
await plane.addCustomer('ada');

describe('the usage endpoint', () => {
  it('checks in the order of the contract: key, kind, media type, size, JSON, fields', async () => {
    const { live } = plane.keys;
    expect(await codeOf({ key: null, type: 'text/plain', body: '{' })).toBe('401 unauthenticated');
    expect(await codeOf({ key: `${live.secret}x`, body: '{' })).toBe('401 unauthenticated');
    const publishable = await codeOf({ key: live.publishable, type: 'text/plain' });
    expect(publishable).toBe('403 publishable_key_not_allowed');
    expect(await codeOf({ type: 'text/plain', body: 'x'.repeat(2 ** 21) })).toBe(
      '415 unsupported_media_type',
    );
    expect(await codeOf({ body: `{${' '.repeat(2 ** 20)}` })).toBe('413 payload_too_large');
    expect(await codeOf({ body: '{' })).toBe('400 invalid_json');
    expect(await codeOf({ body: '{"events":{}}' })).toBe('400 invalid_request');
    expect(await codeOf({ body: '{"events":[]}', query: '?include=all' })).toBe('400 invalid_request');
  });

  it('names its version and the request on every response', async () => {
    const response = await post({ key: null, headers: { 'x-request-id': 'mine-1' } });
    expect(response.headers.get('x-api-version')).toBe('v1');
    expect(response.headers.get('x-request-id')).toBe('mine-1');
    expect(await response.json()).toMatchObject({ error: { requestId: 'mine-1' } });
  });

  it('takes gzip and lines, and bounds what gzip inflates to', async () => {
    const lines = ['g1', 'g2'].map((key) => JSON.stringify(event(key))).join('\n');
    const asLines = await post({ body: lines, type: 'application/x-ndjson' });
    expect(await asLines.json()).toMatchObject({ summary: { created: 2 } });
    const packed = gzipSync(JSON.stringify({ events: [event('g1'), event('g3')] }));
    const asGzip = await post({ body: packed, headers: { 'content-encoding': 'gzip' } });
    expect(await asGzip.json()).toMatchObject({ summary: { created: 1, duplicate: 1 } });
    const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20));
    expect(await codeOf({ body: bomb, headers: { 'content-encoding': 'gzip' } })).toBe(
      '413 payload_too_large',
    );
    const broken = await codeOf({ body: 'no gzip', headers: { 'content-encoding': 'gzip' } });
    expect(broken).toBe('400 invalid_gzip');
  });

  it('responds to a single event and its replay with the same event', async () => {
    const body = JSON.stringify({ customerId: 'ada', meterId: 'calls', value: 2 });
    const first = await post({ single: 's1', body });
    const again = await post({ single: 's1', body });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await again.text()).toBe(await first.text());
  });

  // Mutant: `admission.give` left out when a client disconnects, or the bound taken out of `take`.
  it('rejects bodies beyond what may be in flight, and accepts them once clients disconnect', async () => {
    const held = await Promise.all([holdBody(900_000), holdBody(900_000)]);
    await vi.waitFor(async () => expect(await inFlightBytes()).toBe(1_800_000), { timeout: 30_000 });
    expect(await codeOf({ body: JSON.stringify({ events: [], pad: 'x'.repeat(500_000) }) })).toBe(
      '503 overloaded',
    );
    for (const socket of held) socket.destroy();
    await vi.waitFor(async () => expect(await inFlightBytes()).toBe(0), { timeout: 30_000 });
    expect((await post({ body: '{"events":[]}' })).status).toBe(200);
  });

  // Mutant: onAborted, the UTF-8 check or the surrogate check removed.
  it('survives garbage, half requests and deep nesting without a 5xx', async () => {
    const pid = plane.pid();
    await Promise.all(Array.from({ length: 40 }, (_, seed) => sendGarbage(seed)));
    const bodies = [
      '['.repeat(500_000),
      '{"events":'.repeat(50_000),
      '\u0000',
      '"\\ud800"',
      Buffer.from([0xff]),
    ];
    for (const body of bodies) expect((await post({ body })).status).toBeLessThan(500);
    const nested = `{"events":[{"properties":${'['.repeat(200_000)}${']'.repeat(200_000)}}]}`;
    expect((await post({ body: nested })).status).toBe(200);
    expect(plane.pid()).toBe(pid);
    expect((await post({ body: '{"events":[]}' })).status).toBe(200);
  });
});

describe('without Postgres', () => {
  it('serves what it knows and responds `unavailable` for what it does not', async () => {
    await post({ body: JSON.stringify({ events: [event('p0')] }) });
    await plane.stopPostgres();
    const events = [event('p1'), { ...event('p2'), customerId: 'nobody-knows' }];
    const response = await post({ body: JSON.stringify({ events }) });
    expect(await response.json()).toMatchObject({
      summary: { created: 1, errors: 1 },
      results: [{ status: 'created' }, { status: 'error', error: { code: 'unavailable' } }],
    });
    const stranger = plane.keys.test.secret;
    expect(await codeOf({ key: stranger, body: '{"events":[]}' })).toBe('503 unavailable');
  }, 240_000);
});

interface Sent {
  key?: string | null;
  type?: string;
  body?: string | Buffer<ArrayBuffer>;
  query?: string;
  single?: string;
  headers?: Record<string, string>;
}

function post({ key, type, body, query, single, headers }: Sent): Promise<Response> {
  const path = `/api/v1/usage/events${single === undefined ? '/batch' : ''}${query ?? ''}`;
  return fetch(`${plane.origin()}${path}`, {
    method: 'POST',
    body: body ?? '{"events":[]}',
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key ?? plane.keys.live.secret}` }),
      'content-type': type ?? 'application/json',
      ...(single === undefined ? {} : { 'idempotency-key': single }),
      ...headers,
    },
  });
}

async function codeOf(sent: Sent): Promise<string> {
  const response = await post(sent);
  const { error } = (await response.json()) as { error: { code: string } };
  return `${response.status} ${error.code}`;
}

function event(idempotencyKey: string) {
  return { idempotencyKey, customerId: 'ada', meterId: 'calls', value: 1 };
}

/** Announces 1 MB, sends a part of it and then nothing. */
async function holdBody(bytes: number): Promise<Socket> {
  const socket = connect(plane.port(), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    `POST /api/v1/usage/events/batch HTTP/1.1\r\nHost: x\r\nX-API-Key: ${plane.keys.live.secret}\r\n` +
      `Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(bytes)}`,
  );
  return socket;
}

async function inFlightBytes(): Promise<number> {
  const text = await (await fetch(`${plane.origin()}/metrics`)).text();
  return Number(/^metergate_usage_in_flight_bytes\S* (\d+)/m.exec(text)?.[1]);
}

async function sendGarbage(seed: number): Promise<void> {
  const socket = connect(plane.port(), '127.0.0.1');
  const closed = once(socket, 'close');
  socket.on('error', () => undefined);
  const garbage = Buffer.from(Array.from({ length: 400 }, (_, at) => (seed * 7919 + at * at * 31) % 256));
  if (seed % 2 === 0)
    socket.write('POST /api/v1/usage/events/batch HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\n{');
  socket.end(garbage, () => socket.destroy());
  await closed;
}
