import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openConnection, requestHead, until } from '../../../tests/support/raw-connection.ts';
import type { Exchange } from '../http-front.ts';
import { type CreateFront, describeRequest, responseJson, sha256, startFront } from './front-under-test.ts';

/** Responses in pieces, and clients that disconnect or read slowly. */
export function streamedResponses(createFront: CreateFront): void {
  it('gives pieces in order and headers that repeat', async () => {
    const { url } = await startFront(createFront, (exchange) => {
      exchange.begin(200, [
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ]);
      for (const piece of ['one ', '', 'two ', 'three']) exchange.write(Buffer.from(piece));
      exchange.end();
      exchange.write(Buffer.from('late'));
      exchange.respond(500, {}, Buffer.from('late'));
    });
    const response = await fetch(url);
    expect(await response.text()).toBe('one two three');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(response.headers.get('x-api-version')).toBe('v1');
  });

  it('sends a whole response of any size, at once and later', async () => {
    const { url } = await startFront(createFront, async (exchange) => {
      if (exchange.query === 'later') await nextTurn();
      exchange.respond(200, {}, sources.get(exchange.path) ?? Buffer.alloc(0));
    });
    for (const bytes of [0, 1, 20_000, 30_000_000]) {
      const body = randomBytes(bytes);
      sources.set('/whole', body);
      for (const query of ['', '?later']) {
        const response = await fetch(`${url}/whole${query}`);
        expect(response.headers.get('content-length')).toBe(String(bytes));
        expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(sha256(body));
      }
    }
  });

  // Red with onTaken called when respond returns: what the client has not read yet is overwritten.
  it('reports when a response is taken, so that its memory may be used again at once', async () => {
    let timesTaken = 0;
    const { url } = await startFront(createFront, (exchange) => {
      const body = Buffer.from(sources.get(exchange.path) ?? []);
      exchange.respond(200, {}, body, () => {
        timesTaken++;
        body.fill('x');
      });
    });
    for (const bytes of [1, 60_000, 30_000_000]) {
      const body = randomBytes(bytes);
      sources.set('/taken', body);
      timesTaken = 0;
      const response = await fetch(`${url}/taken`);
      expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(sha256(body));
      await until('it is reported', () => timesTaken > 0);
      expect(timesTaken).toBe(1);
    }
  });

  it('gives announced lengths of every size whole', async () => {
    const { url } = await startFront(createFront, streamBody);
    for (const bytes of [0, 1, 65_536, 65_537, 5_000_000]) {
      const body = randomBytes(bytes);
      sources.set(`/${bytes}`, body);
      const response = await fetch(`${url}/${bytes}`);
      expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(sha256(body));
    }
  });

  it('sends the announced length of a small response and of a response to HEAD', async () => {
    const { url } = await startFront(createFront, streamBody);
    sources.set('/small', randomBytes(100));
    expect((await fetch(`${url}/small`)).headers.get('content-length')).toBe('100');
    expect((await fetch(`${url}/small`, { method: 'HEAD' })).headers.get('content-length')).toBe('100');
  });

  it('gives statuses that allow no body none', async () => {
    const { port } = await startFront(createFront, (exchange) => {
      exchange.begin(exchange.path === '/body' ? 200 : 304, []);
      exchange.write(Buffer.from('body'));
      exchange.end();
    });
    const client = await openConnection(port);
    client.send(requestHead('GET / HTTP/1.1'));
    expect(await client.response()).toMatchObject({ status: 304 });
    client.send(requestHead('GET /body HTTP/1.1'));
    expect(await client.receives('body')).toMatch(/^HTTP\/1.1 200/);
  });

  // Red with the result of the native write ignored: all is taken at once.
  it.each([1_000, 65_536])(
    'makes the writer wait for a slow reader, in pieces of %i bytes',
    { timeout: 20_000 },
    async (size) => {
      let taken = 0;
      const total = 64_000_000;
      const piece = Buffer.alloc(size, 'p');
      const { port } = await startFront(createFront, (exchange) => {
        const more = () => {
          while (taken < total) {
            taken += size;
            if (!exchange.write(piece)) return;
          }
          exchange.end();
        };
        exchange.begin(200, []);
        exchange.onDrain(more);
        more();
      });
      const client = await openConnection(port);
      client.socket.removeAllListeners('data');
      client.socket.pause();
      client.send(requestHead('GET / HTTP/1.1'));
      await until('something is written', () => taken > 0);
      // What the two kernels hold for a loopback connection, and one turn of the writer.
      expect(taken).toBeLessThan(20_000_000);
      let read = 0;
      client.socket.on('data', (chunk) => {
        read += chunk.length;
      });
      client.socket.resume();
      await until('all is read', () => read > total, 15_000);
      expect(taken).toBeGreaterThanOrEqual(total);
    },
  );

  it('closes the connection when a response ends short of its announced length', async () => {
    const { port } = await startFront(createFront, (exchange) => {
      exchange.begin(200, [['content-length', exchange.path.slice(1)]]);
      exchange.write(Buffer.alloc(100));
      exchange.end();
    });
    for (const announced of ['101', '100000']) {
      const client = await openConnection(port);
      client.send(requestHead(`GET /${announced} HTTP/1.1`));
      await client.closed(2_000);
      expect(client.received()).not.toContain('\r\n0\r\n\r\n');
    }
  });

  it('reports when a client disconnects in the middle of its body, and ignores a response then', async () => {
    const { port, url } = await startFront(createFront, (exchange) => {
      if (exchange.method === 'GET') return describeRequest(exchange);
      exchanges.push(exchange);
      exchange.onAborted(() => received.push('aborted'));
      exchange.readBody(
        (chunk) => received.push(chunk.length > 0 ? 'chunk' : 'empty'),
        () => received.push('end'),
      );
    });
    const exchanges: Exchange[] = [];
    const received: string[] = [];
    const client = await openConnection(port);
    client.send(requestHead('POST / HTTP/1.1', ['Content-Length: 10']));
    client.send('half');
    await until('the half is in', () => received.includes('chunk'));
    client.socket.destroy();
    await until('the exchange ends', () => received.includes('aborted'));
    for (const exchange of exchanges) {
      expect(exchange.aborted).toBe(true);
      touchAll(exchange);
      exchange.onAborted(() => received.push('reported at once'));
    }
    expect(received).toEqual(['chunk', 'aborted', 'reported at once']);
    expect((await fetch(url)).status).toBe(200);
  });

  it('reports when a client disconnects in the middle of a response', async () => {
    const { port, url } = await startFront(createFront, (exchange) => {
      if (exchange.path === '/whole') return responseJson(exchange, 'whole');
      exchanges.push(exchange);
      exchange.onAborted(() => received.push('aborted'));
      exchange.begin(200, []);
      exchange.write(Buffer.from('first'));
    });
    const exchanges: Exchange[] = [];
    const received: string[] = [];
    const client = await openConnection(port);
    client.send(requestHead('GET / HTTP/1.1'));
    await client.receives('first');
    client.socket.destroy();
    await until('the exchange ends', () => received.length > 0);
    for (const exchange of exchanges) touchAll(exchange);
    expect(received).toEqual(['aborted']);
    expect((await fetch(`${url}/whole`)).status).toBe(200);
  });

  // Red when a native response is touched after its client has disconnected.
  it('reports when a client disconnects before its response', async () => {
    const held: Exchange[] = [];
    const received: string[] = [];
    const { port } = await startFront(createFront, (exchange) => {
      exchange.onAborted(() => received.push('aborted'));
      exchange.readBody(
        () => undefined,
        () => held.push(exchange),
      );
    });
    const client = await openConnection(port);
    client.send(`${requestHead('POST / HTTP/1.1', ['Content-Length: 4'])}body`);
    await until('the body is in', () => held.length === 1);
    client.socket.destroy();
    await until('the exchange ends', () => received.length > 0);
    for (const exchange of held) touchAll(exchange);
    expect(received).toEqual(['aborted']);
  });

  it('reports no abort once the response is complete', async () => {
    const received: string[] = [];
    const { port } = await startFront(createFront, (exchange) => {
      exchange.onAborted(() => received.push('aborted'));
      responseJson(exchange, exchange.path);
    });
    const client = await openConnection(port);
    client.send(requestHead('GET /1 HTTP/1.1'));
    await client.response();
    client.socket.destroy();
    const next = await openConnection(port);
    next.send(requestHead('GET /2 HTTP/1.1'));
    await next.response();
    expect(received).toEqual([]);
  });
}

const sources = new Map<string, Buffer>();

/** Streams the source that is named by the path, of an announced length, as its reader takes it. */
function streamBody(exchange: Exchange): void {
  const source = sources.get(exchange.path) ?? Buffer.alloc(0);
  let at = 0;
  const more = () => {
    while (at < source.length) {
      const piece = source.subarray(at, at + 50_000);
      at += piece.length;
      if (!exchange.write(piece)) return;
    }
    exchange.end();
  };
  exchange.begin(200, [['content-length', String(source.length)]]);
  exchange.onDrain(more);
  more();
}

/** Everything that would end the process if it reached a native response whose client has disconnected. */
function touchAll(exchange: Exchange): void {
  exchange.pauseBody();
  exchange.resumeBody();
  exchange.respond(200, {}, Buffer.from('never read'));
  exchange.begin(200, []);
  exchange.write(Buffer.from('nor this'));
  exchange.end();
}
