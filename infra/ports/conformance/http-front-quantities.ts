import { expect, it } from 'vitest';
import {
  openConnection,
  type RawConnection,
  requestHead,
  until,
} from '../../../tests/support/raw-connection.ts';
import { poll } from '../../platform/poll.ts';
import type { Exchange } from '../http-front.ts';
import { type CreateFront, describeRequest, responseJson, startFront } from './front-under-test.ts';

/** Clients that are many, or read nothing of their responses. */
export function quantities(createFront: CreateFront): void {
  it('closes connections beyond the bound, and takes new ones when there is room', async () => {
    const { port } = await startFront(createFront, describeRequest, { connectionsMax: 20 });
    const first = await openMany(port, 20);
    const tooMany = await openMany(port, 30);
    for (const client of tooMany) await client.closed(2_000);
    for (const client of first) client.socket.destroy();
    const served = await poll(async () => (await isServed(port)) || undefined, {
      timeoutMs: 2_000,
      everyMs: 10,
    });
    expect(served).toBe(true);
  });

  // Red with res.end in place of res.tryEnd: every response is taken into memory.
  it('holds only so many responses for a client that sends requests and reads nothing', async () => {
    let responses = 0;
    const body = Buffer.alloc(10_000);
    const { port } = await startFront(createFront, (exchange) => {
      responses += 1;
      exchange.respond(200, {}, body);
    });
    const client = await openConnection(port);
    client.socket.pause();
    let goesOn = true;
    client.socket.on('close', () => {
      goesOn = false;
    });
    for (let sends = 0; sends < 200 && goesOn; sends++) {
      const before = responses;
      client.send(requestHead('GET / HTTP/1.1').repeat(50));
      const isTaken = await until('the responses are taken', () => responses > before, 300).then(
        () => true,
        () => false,
      );
      goesOn &&= isTaken;
    }
    // The kernels' buffers on a loopback connection take some megabytes; 10,000 responses are a hundred.
    expect(responses * body.length).toBeLessThan(30_000_000);
  });

  // Red without the bound: as many responses wait as there are connections.
  it('holds only so many responses for all idle readers, and serves clients that read', async () => {
    const body = Buffer.alloc(16_000_000);
    let given = 0;
    let brokenOff = 0;
    const serve = (exchange: Exchange) => {
      given += 1;
      exchange.onAborted(() => {
        brokenOff += 1;
      });
      exchange.respond(200, {}, body);
    };
    const { port, url } = await startFront(createFront, serve, { unreadBytesMax: 3.5 * body.length });
    const mute = await openMany(port, 8);
    for (const client of mute) {
      client.socket.pause();
      client.send(requestHead('GET / HTTP/1.1'));
    }
    await until('all but three are broken off', () => given === 8 && brokenOff >= 5, 5_000);
    const read = await (await fetch(url)).arrayBuffer();
    expect(read.byteLength).toBe(body.length);
    expect(brokenOff).toBeLessThanOrEqual(6);
  });

  it('serves others while a hundred clients send nothing', async () => {
    const { port, url } = await startFront(createFront, (exchange) => responseJson(exchange, {}));
    await openMany(port, 100);
    expect((await fetch(url)).status).toBe(200);
  });
}

async function openMany(port: number, count: number): Promise<RawConnection[]> {
  return await Promise.all(Array.from({ length: count }, () => openConnection(port)));
}

async function isServed(port: number): Promise<boolean> {
  const client = await openConnection(port);
  client.send(requestHead('GET / HTTP/1.1'));
  return await client.response().then(
    () => true,
    () => false,
  );
}
