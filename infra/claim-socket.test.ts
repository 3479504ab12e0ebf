import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { claimSocket } from './claim-socket.ts';
import { testFolder } from './test-folder.ts';

/** As a process leaves it that was killed: the name is there, and nobody listens. */
async function staleSocket(): Promise<string> {
  const file = join(testFolder(), 'x.socket');
  const program = "require('net').createServer().listen(process.argv[1], () => console.log('listens'))";
  const child = spawn(process.execPath, ['-e', program, file], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  expect(await claimSocket(file)).toBeUndefined();
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(existsSync(file)).toBe(true);
  return file;
}

test('only one holds a name, and the next one when it is given back', async () => {
  const file = join(testFolder(), 'x.socket');
  const leave = await claimSocket(file);
  expect(await claimSocket(file)).toBeUndefined();
  leave?.();
  expect(await claimSocket(file)).toBeTypeOf('function');
});

test('what a dead process left is taken over, by one of many who try', async () => {
  const file = await staleSocket();
  const claims = await Promise.all(Array.from({ length: 10 }, () => claimSocket(file)));
  expect(claims.filter(Boolean)).toHaveLength(1);
  expect(await claimSocket(file)).toBeUndefined();
  expect(readdirSync(dirname(file))).toEqual(['x.socket']);
});

test('a folder of any length will do', async () => {
  const folder = join(testFolder(), 'a-rather-long-name-of-a-folder'.repeat(6));
  await mkdir(folder);
  const leave = await claimSocket(join(folder, 'x.socket'));
  expect(leave).toBeTypeOf('function');
  expect(await claimSocket(join(folder, 'x.socket'))).toBeUndefined();
});
