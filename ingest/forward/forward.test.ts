import { randomBytes } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { createNodeFront } from '../../infra/http/node-front.ts';
import { createUwsFront } from '../../infra/http/uws-front.ts';
import type { CreateFront } from '../../infra/ports/conformance/front-under-test.ts';
import { openConnection, requestHead, until } from '../../tests/support/raw-connection.ts';
import { startForwarder, startUpstream, stop } from './forwarder-under-test.ts';

describe('the forwarder behind uWebSockets.js', () => forwarderBehind(createUwsFront));
describe('the forwarder behind node:http', () => forwarderBehind(createNodeFront));

function forwarderBehind(createFront: CreateFront): void {
  describe('heads', () => heads(createFront));
  describe('failures', () => failures(createFront));
}

function heads(createFront: CreateFront): void {
  it('passes a request on as it was sent, without what belongs to its connection', async () => {
    const upstream = await startUpstream((req, res) => {
      res.end(JSON.stringify({ method: req.method, url: req.url, headers: req.headers }));
    });
    const client = await (await startForwarder(createFront, { target: () => upstream })).connect();
    const headers = [
      'Authorization: Bearer k',
      'X-Request-Id: mine',
      'TE: trailers',
      'X-Own: 1',
      'X-Name: G. Ünal !',
    ];
    client.send(requestHead('DELETE /a%2Fb?x=%20 HTTP/1.1', ['Connection: keep-alive, x-own', ...headers]));
    const seen = JSON.parse(utf8((await client.response()).body));
    expect(seen).toMatchObject({ method: 'DELETE', url: '/a%2Fb?x=%20' });
    expect(seen.headers).toMatchObject({ authorization: 'Bearer k', 'x-request-id': 'mine' });
    expect(utf8(seen.headers['x-name'])).toBe('G. Ünal !');
    expect(seen.headers).not.toHaveProperty('te');
    expect(seen.headers).not.toHaveProperty('x-own');
  });

  // Red when they are joined: the control plane would take two keys for one that holds a comma.
  it('passes on an Idempotency-Key that came twice, and no name that HTTP does not know', async () => {
    const upstream = await startUpstream((req, res) => res.end(JSON.stringify(req.headersDistinct)));
    const client = await (await startForwarder(createFront, { target: () => upstream })).connect();
    const lines = ['Idempotency-Key: a', 'Idempotency-Key: b', 'X_Y: 1', 'X-Name: Ünal'];
    client.send(Buffer.from(requestHead('GET / HTTP/1.1', lines)));
    const seen = JSON.parse(utf8((await client.response()).body));
    expect(seen['idempotency-key']).toEqual(['a', 'b']);
    expect(utf8(seen['x-name'][0])).toBe('Ünal');
    expect(Object.keys(seen).filter((name) => name.includes('\u007f'))).toEqual([]);
  });

  it('rejects what a request line may not contain', async () => {
    const upstream = await startUpstream((_, res) => res.end('reached'));
    const { port } = await startForwarder(createFront, { target: () => upstream, inFlightMax: 1 });
    for (const target of ['/köln', '/x?q=☂', '/x']) {
      const client = await openConnection(port);
      client.send(Buffer.from(requestHead(`GET ${target} HTTP/1.1`)));
      const { status, body } = await client.response();
      expect(status === 200 ? body : status).toBe(target === '/x' ? 'reached' : 400);
    }
  });

  it('gives the response with its status and headers, and version and request id once', async () => {
    const upstream = await startUpstream((_, res) => {
      res.writeHead(
        409,
        [
          ['content-type', 'application/json'],
          ['content-length', '2'],
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
          ['x-api-version', 'v1'],
          ['x-request-id', 'theirs'],
        ].flat(),
      );
      res.end('{}');
    });
    const { url } = await startForwarder(createFront, { target: () => upstream });
    const response = await fetch(url, { headers: { 'x-request-id': 'mine' } });
    expect(response.status).toBe(409);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(response.headers.get('x-api-version')).toBe('v1');
    expect(response.headers.get('x-request-id')).toBe('mine');
    expect(response.headers.get('content-length')).toBe('2');
    expect(await response.text()).toBe('{}');
  });

  it('gives HEAD and statuses without a body none, and the connection continues', async () => {
    const upstream = await startUpstream((req, res) => {
      res.statusCode = Number(req.url?.slice(1));
      if (res.statusCode === 200) res.setHeader('content-length', 10).end('ten bytes.');
      else res.end();
    });
    const client = await (await startForwarder(createFront, { target: () => upstream })).connect();
    client.send(requestHead('GET /204 HTTP/1.1'));
    expect((await client.response()).status).toBe(204);
    client.send(requestHead('GET /304 HTTP/1.1'));
    expect((await client.response()).status).toBe(304);
    client.send(requestHead('HEAD /200 HTTP/1.1'));
    expect(await client.receives('\r\n\r\n')).toMatch(/content-length: 10\r\n/i);
    client.send(requestHead('GET /200 HTTP/1.1'));
    expect(await client.receives('ten bytes.')).toMatch(/\r\n\r\nHTTP\/1.1 200/);
  });

  it("passes a browser's preflight on, and what it is allowed back", async () => {
    const upstream = await startUpstream((req, res) => {
      const { origin = '', 'access-control-request-method': method = '' } = req.headers;
      const allowed = { 'access-control-allow-origin': origin, 'access-control-allow-methods': method };
      res.writeHead(req.method === 'OPTIONS' ? 204 : 500, { ...allowed, vary: 'Origin' }).end();
    });
    const { url } = await startForwarder(createFront, { target: () => upstream });
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
    const response = await fetch(`${url}/api/v1/events/funnel?key=pk`, { method: 'OPTIONS', headers });
    expect(response.status).toBe(204);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': 'https://shop.example',
      'access-control-allow-methods': 'POST',
      vary: 'Origin',
    });
  });

  // Red when it is relayed: the caller would get no word of ours.
  it('rejects itself a header block that is too large for the control plane', async () => {
    const upstream = await startUpstream((_, res) => res.writeHead(431, { connection: 'close' }).end());
    const { url } = await startForwarder(createFront, { target: () => upstream });
    const response = await fetch(url, { headers: { 'x-request-id': 'mine' } });
    expect(response.status).toBe(431);
    expect(await response.json()).toMatchObject({ error: { code: 'headers_too_large', requestId: 'mine' } });
  });

  it('follows the control plane to another port', async () => {
    const ports = await Promise.all(['one', 'two'].map((name) => startUpstream((_, res) => res.end(name))));
    let current = ports[0];
    const { url } = await startForwarder(createFront, { target: () => current });
    expect(await (await fetch(url)).text()).toBe('one');
    current = ports[1];
    expect(await (await fetch(url)).text()).toBe('two');
  });
}

function failures(createFront: CreateFront): void {
  const expectUnavailable = async (response: Response, code = 'unavailable') => {
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    const { error } = (await response.json()) as { error: unknown };
    expect(error).toMatchObject({ code, requestId: response.headers.get('x-request-id') });
  };

  it('responds 503 while the control plane is unavailable, and serves again when it is back', async () => {
    const gone = await startUpstream(() => undefined);
    await stop(gone);
    let current: string | undefined;
    const { url } = await startForwarder(createFront, { target: () => current });
    await expectUnavailable(await fetch(url));
    current = gone;
    await expectUnavailable(await fetch(url, { method: 'POST', body: randomBytes(1_000_000) }));
    current = await startUpstream((_, res) => res.end('back'));
    expect(await (await fetch(url)).text()).toBe('back');
  });

  it('responds 503 when the control plane disconnects before it responds', async () => {
    const upstream = await startUpstream((req) => void req.socket.destroy());
    const { url } = await startForwarder(createFront, { target: () => upstream });
    await expectUnavailable(await fetch(url));
    await expectUnavailable(await fetch(url, { method: 'POST', body: 'b' }));
  });

  it('responds 503 when the control plane hangs', async () => {
    const upstream = await startUpstream(() => undefined);
    const timeouts = { connectMs: 500, headersMs: 300, bodyMs: 300 };
    const { url } = await startForwarder(createFront, { target: () => upstream, timeouts });
    await expectUnavailable(await fetch(url));
  });

  // Red with an ordinary end: a part would look like the whole.
  it('disconnects the client when the control plane disconnects in the middle of its response', async () => {
    const upstream = await startUpstream((req, res) => {
      if (req.url === '/known') res.setHeader('content-length', 1_000_000);
      res.write(Buffer.alloc(100_000), () => setTimeout(() => res.destroy(), 20));
    });
    const { url } = await startForwarder(createFront, { target: () => upstream });
    for (const path of ['/known', '/unknown']) {
      const whole = fetch(url + path).then((response) => response.arrayBuffer());
      await expect(whole).rejects.toThrow();
    }
  });

  it('responds 503 overloaded beyond its bound, and takes new requests when others have ended', async () => {
    const held: Array<() => void> = [];
    const upstream = await startUpstream((_, res) => void held.push(() => res.end('held')));
    const options = { target: () => upstream, senderOf: () => 'a:live', inFlightMax: 2 };
    const { url } = await startForwarder(createFront, options);
    const first = [fetch(url), fetch(url)];
    await until('both are held', () => held.length === 2);
    await expectUnavailable(await fetch(url), 'overloaded');
    for (const release of held.splice(0)) release();
    await Promise.all(first.map(async (one) => (await one).text()));
    const next = fetch(url);
    await until('it is held', () => held.length === 1);
    for (const release of held) release();
    expect(await (await next).text()).toBe('held');
  });

  it('keeps places of their own for responses that go on', async () => {
    const held: Array<() => void> = [];
    const upstream = await startUpstream((req, res) => {
      if (req.url?.startsWith('/api')) res.write('on and ', () => held.push(() => res.end('on')));
      else res.end('fine');
    });
    const options = { target: () => upstream, senderOf: () => 'a:live', inFlightMax: 1, streamsMax: 2 };
    const { url } = await startForwarder(createFront, options);
    const streams = [fetch(`${url}/api/v1/entitlements/feed`), fetch(`${url}/api/v1/usage/live`)];
    await vi.waitFor(() => expect(held).toHaveLength(2), { timeout: 10_000 });
    expect(await (await fetch(url)).text()).toBe('fine');
    await expectUnavailable(await fetch(`${url}/api/v1/entitlements/feed?customerIds=a`), 'overloaded');
    for (const release of held) release();
    for (const stream of streams) expect(await (await stream).text()).toBe('on and on');
  });

  it('responds 400 to a header that cannot be passed on, and counts it as ended', async () => {
    const upstream = await startUpstream((_, res) => res.end('fine'));
    const { port, url } = await startForwarder(createFront, { target: () => upstream, inFlightMax: 1 });
    const client = await openConnection(port);
    client.send(requestHead('GET / HTTP/1.1', ['X-A: a\x01b']));
    client.socket.end();
    await client.closed(2_000);
    expect(await (await fetch(url)).text()).toBe('fine');
  });
}

/** The text of what was read as one character per byte. */
function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString();
}
