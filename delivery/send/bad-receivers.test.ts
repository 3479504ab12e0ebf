import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { afterAll, describe, expect, it } from 'vitest';
import { SILENT } from '../../tests/support/silent-log.ts';
import { startStopwatch } from '../../tests/support/stopwatch.ts';
import { type Receiver, requestTo, startReceiver, testTalking } from '../receiver-under-test.ts';
import { type Attempt, createSend } from './send.ts';

/*
 * What a receiver may do to its sender.
 *
 * Mutants that turn it red: the response read to its end; no timeout for the whole attempt; the bytes that
 * come back on a connection not counted; interim responses not counted; a request that may have arrived
 * sent again.
 */
const TIMEOUT_MS = 1_000;
/** For a machine that is busy. */
const GRACE_MS = 5_000;

const sender = createSend({ log: SILENT, attemptTimeoutMs: TIMEOUT_MS });
afterAll(() => sender.close());

function attempt({ url }: Pick<Receiver, 'url'>): Promise<Attempt> {
  return sender.send(requestTo(url));
}

const HEAD = 'HTTP/1.1 200 OK\r\n';
const CHUNK = Buffer.alloc(65_536, 'x');
const HEADERS = Buffer.from('x-a: b\r\n'.repeat(8_000));

/** As fast as the client reads it, forever. */
function flood(socket: Socket, chunk: Buffer | string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

/** A byte each few milliseconds. */
function drip(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ''), 5);
  socket.on('close', () => clearInterval(timer));
}

describe('a bad receiver', () => {
  const bad: Array<[what: string, talk: (socket: Socket) => void, errorCode: string]> = [
    ['sends nothing', () => undefined, 'timeout'],
    [
      'sends its head slowly',
      (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx: '.padEnd(9_999, 'x')),
      'timeout',
    ],
    [
      'sends its body slowly',
      (socket) => drip(socket, `${HEAD}content-length: 9999\r\n\r\n${'x'.repeat(999)}`),
      'timeout',
    ],
    ['stops in its head', (socket) => socket.write(HEAD), 'timeout'],
    ['stops in its body', (socket) => socket.write(`${HEAD}content-length: 9\r\n\r\nx`), 'timeout'],
    [
      'streams forever',
      (socket) => flood(socket.pause(), Buffer.concat([Buffer.from(`${HEAD}\r\n`), CHUNK])),
      'response_too_large',
    ],
    [
      'announces 10 GB and sends it',
      (socket) => {
        socket.write(`${HEAD}content-length: 10737418240\r\n\r\n`);
        flood(socket, CHUNK);
      },
      'response_too_large',
    ],
    [
      'sends chunks forever',
      (socket) => {
        socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
        flood(socket, `10000\r\n${CHUNK}\r\n`);
      },
      'response_too_large',
    ],
    [
      'sends one chunk extension forever',
      (socket) => {
        socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n1;`);
        flood(socket, CHUNK);
      },
      'response_too_large',
    ],
    [
      'sends headers forever',
      (socket) => {
        socket.write(HEAD);
        flood(socket, HEADERS);
      },
      'response_invalid',
    ],
    [
      'sends one header forever',
      (socket) => {
        socket.write(`${HEAD}x-a: `);
        flood(socket, CHUNK);
      },
      'response_invalid',
    ],
    [
      'sends interim responses forever',
      (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)),
      'response_invalid',
    ],
    ['speaks no HTTP', (socket) => socket.end('220 mail.example ESMTP\r\n'), 'response_invalid'],
    ['speaks TLS', (socket) => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, 70])), 'response_invalid'],
    [
      'claims two lengths',
      (socket) => socket.end(`${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\nab`),
      'response_invalid',
    ],
    [
      'sends less than it announced',
      (socket) => socket.end(`${HEAD}content-length: 9\r\n\r\nx`),
      'connection_lost',
    ],
    ['hangs up', (socket) => socket.end(), 'connection_lost'],
    ['resets', (socket) => socket.resetAndDestroy(), 'connection_lost'],
    [
      'resets in its body',
      (socket) =>
        socket.write(`${HEAD}content-length: 9\r\n\r\nx`, () => setImmediate(() => socket.resetAndDestroy())),
      'connection_lost',
    ],
    [
      'switches protocols',
      (socket) => socket.end('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      'connection_lost',
    ],
  ];
  it.each(bad)('that %s is a failed attempt, in time and within bounds', async (_, talk, errorCode) => {
    let sentBytes = () => 0;
    const receiver = await testTalking((socket) => {
      sentBytes = () => socket.bytesWritten;
      talk(socket);
    });
    const passedMs = startStopwatch();
    expect(await attempt(receiver)).toMatchObject({ outcome: 'failed', errorCode });
    expect(passedMs()).toBeLessThan(TIMEOUT_MS + GRACE_MS);
    // What the kernel holds on both sides; nothing reads on.
    expect(sentBytes()).toBeLessThan(16 * 2 ** 20);
  });

  it('that responded before it went bad is shown with its response', async () => {
    const receiver = await testTalking((socket) => socket.write(`${HEAD}content-length: 9\r\n\r\nhello`));
    const expected = { outcome: 'failed', errorCode: 'timeout', status: 200, responseBody: 'hello' };
    expect(await attempt(receiver)).toMatchObject(expected);
  });

  it('is sent each request once, whatever it does with it', async () => {
    let requests = 0;
    const receiver = await testTalking((socket) => {
      requests += 1;
      socket.resetAndDestroy();
    });
    await attempt(receiver);
    expect(requests).toBe(1);
  });

  it('holds no memory: a hundred that stream at once', async () => {
    const receiver = await testTalking((socket) => {
      socket.write(`${HEAD}\r\n`);
      flood(socket, CHUNK);
    });
    const before = process.memoryUsage.rss();
    const patient = createSend({ log: SILENT });
    const all = await Promise.all(Array.from({ length: 100 }, () => patient.send(requestTo(receiver.url))));
    await patient.close();
    expect(new Set(all.map(({ errorCode }) => errorCode))).toEqual(new Set(['response_too_large']));
    expect(process.memoryUsage.rss() - before).toBeLessThan(128 * 2 ** 20);
  });

  it('that is not there is tried three times within a short time', async () => {
    const receiver = await startReceiver(() => undefined);
    await receiver.close();
    const connectNow = buildConnector({});
    const triedAtMs: number[] = [];
    const patient = createSend({
      log: SILENT,
      connect: (options, callback) => {
        triedAtMs.push(performance.now());
        connectNow(options, callback);
      },
    });
    expect(await patient.send(requestTo(receiver.url))).toMatchObject({
      outcome: 'failed',
      errorCode: 'connect_failed',
    });
    await patient.close();
    const [first = 0, second = 0, third = 0, ...more] = triedAtMs;
    expect(more).toEqual([]);
    expect(second - first).toBeGreaterThanOrEqual(99);
    expect(third - second).toBeGreaterThanOrEqual(199);
  });
});
