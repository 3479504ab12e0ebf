import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { listenUntil } from '../../support/listen.ts';
import { startKiller } from './killer.ts';

const REQUEST = Buffer.from('POST / HTTP/1.1\r\n\r\n');

/** A server that does this with each request, and a process to be killed in its place. */
async function victimOf(response: (socket: Socket) => void) {
  const server = createServer((socket) => socket.once('data', () => response(socket)));
  const { port } = await listenUntil(onTestFinished, server);
  const victim = spawn('sleep', ['60'], { stdio: 'ignore' });
  await once(victim, 'spawn');
  const killer = startKiller();
  onTestFinished(() => {
    killer.close();
    victim.kill('SIGKILL');
  });
  return { victim, fire: () => killer.fire({ port, pid: victim.pid ?? 0, request: REQUEST }) };
}

it('the process is killed when its response arrives, and the response is reported', async () => {
  const { victim, fire } = await victimOf((socket) => socket.end('HTTP/1.1 201 Created'));
  const ended = once(victim, 'exit');
  expect((await fire()).toString()).toBe('HTTP/1.1 201 Created');
  expect(await ended).toEqual([null, 'SIGKILL']);
});

/** Red when a kill is counted that hit nothing. */
it('a kill without a response, or of a process that has ended, is none', async () => {
  const silent = await victimOf((socket) => socket.end());
  await expect(silent.fire()).rejects.toThrow('was not killed');
  expect(silent.victim.signalCode).toBeNull();
  const responding = await victimOf((socket) => socket.end('HTTP/1.1 201 Created'));
  const ended = once(responding.victim, 'exit');
  responding.victim.kill('SIGKILL');
  await ended;
  await expect(responding.fire()).rejects.toThrow('was not killed');
});
