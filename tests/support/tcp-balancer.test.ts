import { connect, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { listenUntil } from './listen.ts';
import type { Address } from './proxy/tcp-proxy.ts';
import { quietPort } from './quiet-port.ts';
import { startTcpBalancer } from './tcp-balancer.ts';

async function greeter(name: string): Promise<Address> {
  const server = createServer((socket) => socket.end(name));
  return { host: '127.0.0.1', port: (await listenUntil(onTestFinished, server)).port };
}

async function greetingOf(address: Address): Promise<string> {
  const socket = connect(address);
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString();
  });
  socket.on('error', () => undefined);
  await new Promise((closed) => socket.once('close', closed));
  return text;
}

it('connections go to its targets by turns, and never to one that is gone', async () => {
  const gone = { host: '127.0.0.1', port: await quietPort() };
  const targets = [await greeter('a'), gone, await greeter('b')];
  const balancer = await startTcpBalancer(() => targets);
  onTestFinished(() => balancer.close());
  const greetings = [];
  for (let one = 0; one < 6; one++) greetings.push(await greetingOf(balancer.address));
  expect(new Set(greetings)).toEqual(new Set(['a', 'b']));
});

it('a connection that no target takes is closed', async () => {
  const balancer = await startTcpBalancer(() => []);
  onTestFinished(() => balancer.close());
  expect(await greetingOf(balancer.address)).toBe('');
});
