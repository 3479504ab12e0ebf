import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openConnection, requestHead, until } from '../../../tests/support/raw-connection.ts';
import { type CreateFront, describeRequest, responseJson, sha256, startFront } from './front-under-test.ts';
import { chunks } from './http-front-chunks.ts';
import { connections } from './http-front-connections.ts';
import { fuzzClients } from './http-front-fuzz.ts';
import { headers } from './http-front-headers.ts';
import { streamedResponses } from './http-front-streams.ts';

/** What every HttpFront does. An adapter's test is one call of this. */
export function httpFrontConformance(name: string, createFront: CreateFront): void {
  describe(`${name}: requests`, () => requests(createFront));
  describe(`${name}: headers`, () => headers(createFront));
  describe(`${name}: chunks`, () => chunks(createFront));
  describe(`${name}: bodies`, () => bodies(createFront));
  describe(`${name}: connections`, () => connections(createFront));
  describe(`${name}: responses in pieces`, () => streamedResponses(createFront));
  describe(`${name}: fuzzing clients`, () => fuzzClients(createFront));
}

function requests(createFront: CreateFront): void {
  it('gives method, path and query as they were sent, headers in lower case', async () => {
    const { url } = await startFront(createFront, describeRequest);
    const response = await fetch(`${url}/api/v1/a%2Fb?x=1&y=%20`, { headers: { 'X-Some': 'Value' } });
    expect(await response.json()).toMatchObject({
      method: 'GET',
      path: '/api/v1/a%2Fb',
      query: 'x=1&y=%20',
      bytes: 0,
      headers: { 'x-some': 'Value' },
    });
  });

  it('takes any method', async () => {
    const { url } = await startFront(createFront, describeRequest);
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const response = await fetch(url, { method });
      expect(await response.json()).toMatchObject({ method, path: '/', query: '' });
    }
  });

  it('joins the values of a repeated header and reads them as UTF-8', async () => {
    const client = await (await startFront(createFront, describeRequest)).connect();
    client.send(Buffer.from(requestHead('GET / HTTP/1.1', ['X-A: 1', 'x-b: grün ☂ !', 'x-a: 2'])));
    const { body } = await client.response();
    const { headers } = JSON.parse(Buffer.from(body, 'latin1').toString());
    expect(headers).toMatchObject({ 'x-a': '1, 2', 'x-b': 'grün ☂ !' });
  });

  it('takes over a request id of visible ASCII and makes one in place of any other', async () => {
    const client = await (await startFront(createFront, describeRequest)).connect();
    const idOf = async (id: string) => {
      client.send(requestHead('GET / HTTP/1.1', [`X-Request-Id: ${id}`]));
      const { headers, body } = await client.response();
      expect(JSON.parse(body).requestId).toBe(headers.get('x-request-id'));
      return headers.get('x-request-id');
    };
    expect(await idOf('order/7#{x}~')).toBe('order/7#{x}~');
    expect(await idOf('x'.repeat(128))).toBe('x'.repeat(128));
    const made = [await idOf('x'.repeat(129)), await idOf('two words'), await idOf('')];
    for (const id of made) expect(id).toMatch(/^req_[a-z2-7]{26}$/);
    expect(new Set(made).size).toBe(3);
  });

  it('puts version and request id on every response, whatever its status', async () => {
    const { port } = await startFront(createFront, (exchange) => {
      exchange.respond(Number(exchange.path.slice(1)), { 'x-own': 'a\r\nx-forged: b' }, Buffer.from('body'));
    });
    const client = await openConnection(port);
    for (const status of [200, 201, 204, 304, 404, 422, 500, 503]) {
      client.send(requestHead(`GET /${status} HTTP/1.1`));
      const { status: seen, headers, body } = await client.response();
      expect(seen).toBe(status);
      expect(body).toBe(status === 204 || status === 304 ? '' : 'body');
      expect(headers.get('x-api-version')).toBe('v1');
      expect(headers.get('x-request-id')).toMatch(/^req_/);
      expect(headers.get('x-own')).toBe('a  x-forged: b');
    }
  });

  // Red with res.end in place of res.endWithoutBody: the body would be taken for the next response. Red with
  // the length given to res.endWithoutBody: the next request closes the connection.
  it('responds to HEAD with the length and no body, at once and later', async () => {
    const { port } = await startFront(createFront, async (exchange) => {
      if (exchange.path === '/later') await nextTurn();
      exchange.respond(200, {}, Buffer.from('x'.repeat(10)));
    });
    const client = await openConnection(port);
    client.send(requestHead('HEAD /now HTTP/1.1'));
    expect(await client.receives('\r\n\r\n')).toMatch(/content-length: 10\r\n/i);
    client.send(requestHead('HEAD /later HTTP/1.1'));
    await until('both heads have come', () => client.received().split('HTTP/1.1 200').length === 3);
    client.send(requestHead('GET /body HTTP/1.1'));
    expect(await client.receives('x'.repeat(10))).not.toContain('xHTTP');
  });

  it('responds 500 when the handler throws, and continues', async () => {
    const { url } = await startFront(createFront, () => {
      throw new Error('a secret of the inside');
    });
    const response = await fetch(url, { headers: { 'x-request-id': 'mine' } });
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(JSON.parse(text).error).toMatchObject({ code: 'internal', requestId: 'mine' });
    expect(text).not.toContain('secret');
  });
}

function bodies(createFront: CreateFront): void {
  it('gives a large body whole, with and without a content length', async () => {
    const { url } = await startFront(createFront, describeRequest);
    const body = randomBytes(3_000_000);
    const whole = await fetch(url, { method: 'POST', body });
    expect(await whole.json()).toMatchObject({ bytes: body.length, sha256: sha256(body) });
    const pieces = new Blob([body.subarray(0, 999), body.subarray(999)]).stream();
    const chunked = await fetch(url, { method: 'POST', body: pieces, duplex: 'half' } as RequestInit);
    expect(await chunked.json()).toMatchObject({ sha256: sha256(body), bytes: body.length });
  });

  it('holds the client back while the reader rests', async () => {
    let resting = false;
    const { port, url } = await startFront(createFront, (exchange) => {
      const chunks: Buffer[] = [];
      exchange.readBody(
        (chunk) => {
          expect(resting).toBe(false);
          chunks.push(Buffer.from(chunk));
          resting = true;
          exchange.pauseBody();
          setTimeout(() => {
            resting = false;
            exchange.resumeBody();
          }, 1);
        },
        () => responseJson(exchange, { sha256: sha256(Buffer.concat(chunks)), resting }),
      );
    });
    const body = randomBytes(1_000_000);
    const response = await fetch(url, { method: 'POST', body });
    expect(await response.json()).toEqual({ sha256: sha256(body), resting: false });
    // Many chunks in one packet. Red when waiting chunks are given to a paused reader.
    const client = await openConnection(port);
    client.send(
      `${requestHead('POST / HTTP/1.1', ['Transfer-Encoding: chunked'])}${'1\r\nx\r\n'.repeat(20)}0\r\n\r\n`,
    );
    expect((await client.response()).body).toContain(sha256(Buffer.from('x'.repeat(20))));
  });

  it('keeps the body for a reader that comes late', async () => {
    const { url } = await startFront(createFront, async (exchange) => {
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      describeRequest(exchange);
    });
    for (const bytes of [0, 1, 1_000_000]) {
      const body = randomBytes(bytes);
      const response = await fetch(url, { method: 'POST', body });
      expect(await response.json()).toMatchObject({ bytes, sha256: sha256(body) });
    }
  });

  it('gives the end only once, and never in the call that starts to read the body', async () => {
    const ends: string[] = [];
    const { url } = await startFront(createFront, async (exchange) => {
      if (exchange.query === 'late') await nextTurn();
      let isHeldBack = true;
      exchange.readBody(
        () => ends.push(isHeldBack ? 'chunk too early' : 'chunk'),
        () => {
          ends.push(isHeldBack ? 'too early' : 'end');
          responseJson(exchange, {});
        },
      );
      isHeldBack = false;
    });
    for (const query of ['', '?late']) await (await fetch(url + query, { method: 'POST', body: 'b' })).text();
    await (await fetch(url)).text();
    expect(ends).toEqual(['chunk', 'end', 'chunk', 'end', 'end']);
  });

  // Red when later chunks reach a reader that has responded.
  it('responds while the body still comes, and the connection continues', async () => {
    let chunksAfter = 0;
    const { port } = await startFront(createFront, (exchange) => {
      if (exchange.method === 'GET') return responseJson(exchange, 'next');
      let responded = false;
      const reject = () => {
        chunksAfter += responded ? 1 : 0;
        responded = true;
        exchange.respond(413, {}, Buffer.from('too large'));
        exchange.respond(200, {}, Buffer.from('again'));
      };
      exchange.readBody(reject, reject);
    });
    const client = await openConnection(port);
    client.send(requestHead('POST / HTTP/1.1', ['Content-Length: 1000000']));
    client.send(Buffer.alloc(1000));
    expect(await client.receives('too large')).toMatch(/^HTTP\/1.1 413/);
    client.send(Buffer.alloc(999_000));
    client.send(requestHead('GET / HTTP/1.1'));
    await client.receives('"next"');
    expect(client.received()).not.toContain('again');
    expect(chunksAfter).toBe(0);
  });

  // Red when a paused socket is not resumed before its response.
  it('responds without reading the body at all, and the connection continues', async () => {
    const { port } = await startFront(createFront, async (exchange) => {
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      responseJson(exchange, exchange.method);
    });
    const client = await openConnection(port);
    client.send(requestHead('POST / HTTP/1.1', ['Content-Length: 2000000']));
    client.send(Buffer.alloc(2_000_000));
    await client.receives('"POST"');
    client.send(requestHead('GET / HTTP/1.1'));
    await client.receives('"GET"');
  });
}
