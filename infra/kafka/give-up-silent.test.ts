import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { listenUntil } from '../../tests/support/listen.ts';
import { giveUpSilent } from './give-up-silent.ts';

const SILENT_MS = 120;

/** A server that echoes every chunk until the test makes it silent. */
async function connected() {
  let isSilent = false;
  const fallSilent = () => {
    isSilent = true;
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined).on('data', (bytes) => isSilent || socket.write(bytes));
  });
  const { port } = await listenUntil(onTestFinished, server);
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return { socket: giveUpSilent(socket, SILENT_MS), fallSilent };
}

async function send(socket: Socket): Promise<void> {
  socket.write('a');
  await once(socket, 'data');
}

it('a connection that owes a response and is silent is closed', async () => {
  const { socket, fallSilent } = await connected();
  await send(socket);
  fallSilent();
  let why = '';
  socket.on('error', (error) => {
    why = error.message;
  });
  socket.write('b');
  await expect.poll(() => why, { timeout: 20_000 }).toMatch(/nothing was received/);
});

it('one that owes nothing may be silent, and one that responds stays open forever', async () => {
  const { socket } = await connected();
  socket.on('error', () => undefined);
  await send(socket);
  await delay(3 * SILENT_MS);
  for (let requested = 0; requested < 6; requested++) {
    await send(socket);
    await delay(SILENT_MS / 2);
  }
  expect(socket.destroyed).toBe(false);
});
