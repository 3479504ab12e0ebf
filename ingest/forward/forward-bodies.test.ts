import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createNodeFront } from '../../infra/http/node-front.ts';
import { createUwsFront } from '../../infra/http/uws-front.ts';
import { type CreateFront, sha256 } from '../../infra/ports/conformance/front-under-test.ts';
import { openConnection, requestHead, until } from '../../tests/support/raw-connection.ts';
import { startForwarder, startUpstream } from './forwarder-under-test.ts';

describe('bodies forwarded behind uWebSockets.js', () => bodies(createUwsFront));
describe('bodies forwarded behind node:http', () => bodies(createNodeFront));

function bodies(createFront: CreateFront): void {
  it('passes bodies on whole, however they are framed, and responses of any size', async () => {
    const upstream = await startUpstream((req, res) => {
      res.setHeader('x-length', req.headers['content-length'] ?? 'none');
      req.pipe(res);
    });
    const { url } = await startForwarder(createFront, { target: () => upstream });
    const body = randomBytes(1_000_000);
    for (const sent of [body, new Blob([body]).stream()]) {
      const response = await fetch(url, { method: 'POST', body: sent, duplex: 'half' } as RequestInit);
      expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(sha256(body));
      expect(response.headers.get('x-length')).toBe('1000000');
    }
  });

  // Red when a body is cut at the limit itself: the control plane would take a part for the whole.
  it('passes of a body that is too large one byte too much, and discards the rest', async () => {
    const upstream = await startUpstream((req, res) => res.end(req.headers['content-length']));
    const { port, url } = await startForwarder(createFront, { target: () => upstream });
    const limit = 1024 * 1024;
    const sent = async (bytes: number) =>
      await (await fetch(url, { method: 'POST', body: randomBytes(bytes) })).text();
    expect(await sent(limit)).toBe(`${limit}`);
    expect(await sent(limit + 1)).toBe(`${limit + 1}`);
    const client = await openConnection(port);
    client.send(requestHead('POST / HTTP/1.1', ['Content-Length: 5000000']));
    client.send(Buffer.alloc(5_000_000));
    expect(await client.receives(`${limit + 1}`)).toMatch(/^HTTP\/1.1 200/);
    client.send(requestHead('POST / HTTP/1.1', ['Content-Length: 3']));
    client.send('abc');
    expect(await client.receives('\r\n\r\n3')).toContain('200');
  });

  // Red when a reader that comes after an empty first chunk leaves the socket stopped.
  it('forwards a body that comes some time after its headers', async () => {
    const upstream = await startUpstream((req, res) => void req.pipe(res));
    const { port } = await startForwarder(createFront, { target: () => upstream });
    const rounds = Array.from({ length: 20 }, async (_, round) => {
      const client = await openConnection(port);
      client.send(requestHead('POST / HTTP/1.1', ['Content-Length: 5']));
      // The time between the two is what is tested, not a wait for something.
      await delay(round);
      client.send('hello');
      expect((await client.receives('hello')).startsWith('HTTP/1.1 200')).toBe(true);
    });
    await Promise.all(rounds);
  });

  // Red when the result of exchange.write is ignored.
  it('holds the control plane back while the client reads slowly', { timeout: 240_000 }, async () => {
    const total = 80_000_000;
    let given = 0;
    const upstream = await startUpstream((_, res) => {
      const more = () => {
        while (given < total) {
          given += 100_000;
          if (!res.write(Buffer.alloc(100_000))) return;
        }
        res.end();
      };
      res.on('drain', more);
      more();
    });
    const { port } = await startForwarder(
      createFront,
      { target: () => upstream },
      { responseStallMs: 10_000 },
    );
    const client = await openConnection(port);
    client.socket.removeAllListeners('data');
    client.socket.pause();
    client.send(requestHead('GET / HTTP/1.1'));
    await settles(() => given);
    // What the kernels hold for two loopback connections.
    expect(given).toBeLessThan(40_000_000);
    let read = 0;
    client.socket.on('data', (chunk) => {
      read += chunk.length;
    });
    client.socket.resume();
    await until('all is read', () => read > total, 15_000);
  });

  // Red without exchange.onAborted.
  it('disconnects from the control plane when the client disconnects', async () => {
    const received: string[] = [];
    const upstream = await startUpstream((req, res) => {
      received.push('in');
      if (req.url === '/response') res.write('first');
      res.on('close', () => received.push('closed'));
    });
    const { port } = await startForwarder(createFront, { target: () => upstream });
    for (const path of ['/wait', '/response']) {
      received.length = 0;
      const client = await openConnection(port);
      client.send(requestHead(`POST ${path} HTTP/1.1`, ['Content-Length: 1']));
      client.send('b');
      await until('the request is in', () => received.includes('in'));
      client.socket.destroy();
      await until('the request is closed', () => received.includes('closed'));
    }
  });
}

/** Waits until a figure has begun to grow and no longer changes. */
async function settles(figure: () => number): Promise<void> {
  let last = -1;
  let still = 0;
  await until('it no longer changes', () => {
    const now = figure();
    still = now > 0 && now === last ? still + 1 : 0;
    last = now;
    return still > 50;
  });
}
