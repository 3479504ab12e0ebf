import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { listenUntil } from '../listen.ts';
import { createRandom } from '../random.ts';
import { drawFaults } from './draw-faults.ts';
import { type Fault, startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

interface Echo {
  proxy: TcpProxy;
  /** The lines that the server received. */
  requested: string[];
}

/** A server that responds to each line with its capitals, behind a proxy. */
async function startEcho(fault?: (request: Buffer) => Fault | undefined): Promise<Echo> {
  const requested: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      const text = chunk.toString();
      requested.push(text);
      socket.write(text.toUpperCase());
    });
  });
  const { port } = await listenUntil(onTestFinished, server);
  const target = () => ({ host: '127.0.0.1', port });
  const proxy = await startTcpProxy({ target, ...(fault ? { fault } : {}) });
  onTestFinished(() => proxy.close());
  return { proxy, requested };
}

function open({ proxy }: Echo): Socket {
  const socket = connect(proxy.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  return socket;
}

async function ask(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [response] = (await once(socket, 'data')) as [Buffer];
  return response.toString();
}

/** The code of the error that the connection ends with; 'end' where it is closed in order. */
async function endOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    socket.once('end', () => resolve('end'));
  });
}

const first = (fault: Fault) => {
  const faults = [fault];
  return () => faults.shift();
};

it('passes requests and responses on, many on one connection', async () => {
  const echo = await startEcho();
  const socket = open(echo);
  expect([await ask(socket, 'a'), await ask(socket, 'b')]).toEqual(['A', 'B']);
});

it('loses a request before it is forwarded', async () => {
  const echo = await startEcho(first({ kind: 'lose' }));
  const socket = open(echo);
  socket.write('a');
  expect(await endOf(socket)).toBe('ECONNRESET');
  expect(await ask(open(echo), 'b')).toBe('B');
  expect(echo.requested).toEqual(['b']);
  expect(echo.proxy.done()).toMatchObject({ lose: 1, swallow: 0 });
});

it('swallows the response to a request that the server has received', async () => {
  const echo = await startEcho(first({ kind: 'swallow' }));
  const socket = open(echo);
  socket.write('a');
  expect(await endOf(socket)).toBe('ECONNRESET');
  expect(echo.requested).toEqual(['a']);
  expect(await ask(open(echo), 'b')).toBe('B');
});

it('cuts a response in the middle', async () => {
  const echo = await startEcho(first({ kind: 'cut', bytes: 2 }));
  const socket = open(echo);
  const ended = endOf(socket);
  expect(await ask(socket, 'abcd')).toBe('AB');
  expect(await ended).toBe('end');
});

it('never passes the whole of a response that it cuts', async () => {
  const echo = await startEcho(first({ kind: 'cut', bytes: 100 }));
  expect(await ask(open(echo), 'abcd')).toBe('ABC');
});

it('passes a response late, and whole', async () => {
  const echo = await startEcho(first({ kind: 'delay', ms: 200 }));
  const socket = open(echo);
  const requestedAt = performance.now();
  expect(await ask(socket, 'abcd')).toBe('ABCD');
  expect(performance.now() - requestedAt).toBeGreaterThan(190);
  expect(await ask(socket, 'b')).toBe('B');
  expect(echo.proxy.done()).toMatchObject({ delay: 1, swallow: 0 });
});

it('leaves a connection open without its response', async () => {
  const echo = await startEcho(first({ kind: 'hang' }));
  const hanging = open(echo);
  hanging.write('never');
  await vi.waitFor(() => expect(echo.proxy.done().hang).toBe(1), 20_000);
  await turn();
  expect([hanging.bytesRead, hanging.readyState]).toEqual([0, 'open']);
});

it('resets what is connected and takes nothing more when it is closed', async () => {
  const echo = await startEcho();
  const held = open(echo);
  await ask(held, 'a');
  const ended = endOf(held);
  await echo.proxy.close();
  expect(await ended).toBe('ECONNRESET');
  expect(await endOf(open(echo))).toBe('ECONNREFUSED');
});

it('draws faults until there are enough, the same for the same seed', () => {
  const draw = () => {
    const kinds: Fault[] = [{ kind: 'lose' }, { kind: 'swallow' }];
    const among = (request: Buffer) => request.length > 1;
    const drawn: Array<Fault | undefined> = [];
    const isEnough = () => drawn.filter(Boolean).length === 5;
    const fault = drawFaults({ random: createRandom(7), share: 0.5, among, kinds, isEnough });
    for (let at = 0; at < 100; at++) drawn.push(fault(Buffer.alloc(at % 3)));
    return drawn;
  };
  const drawn = draw();
  expect(drawn.filter(Boolean)).toHaveLength(5);
  expect(drawn.filter((_, at) => at % 3 !== 2).every((fault) => fault === undefined)).toBe(true);
  expect(draw()).toEqual(drawn);
});
