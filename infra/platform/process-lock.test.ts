import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';
import { identityOf, isLiving } from './process-identity.ts';
import { acquireLock } from './process-lock.ts';

const IN_USE = { name: 'Fatal', code: 'data_dir_in_use' };

/** Takes the lock of the file that is named, if any, and does nothing more until it is killed. */
const HOLDER = `
  const [file] = process.argv.slice(1);
  if (file && !require('fs-native-extensions').tryLock(require('fs').openSync(file, 'r+'))) process.exit(1);
  console.log('holds');
  setInterval(() => {}, 1e6);
`;

interface Other {
  pid: number;
  end(): Promise<void>;
}

async function otherProcess(file = ''): Promise<Other> {
  const child = spawn(process.execPath, ['-e', HOLDER, file], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const end = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return { pid: child.pid ?? 0, end };
}

/** By another process, with these words in it: its own where none are given. */
async function heldLock(words?: object): Promise<{ file: string; owner: Other }> {
  const file = join(testFolder(), 'x.lock');
  writeFileSync(file, '');
  const owner = await otherProcess(file);
  writeFileSync(file, JSON.stringify(words ?? identityOf(owner.pid)));
  return { file, owner };
}

function readWords(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

test('a free lock is taken, names this process, and names no process when it is released', async () => {
  const file = join(testFolder(), 'locks', 'x.lock');
  const release = await acquireLock(file);
  expect(readWords(file)).toEqual(identityOf(process.pid));
  release();
  expect(readFileSync(file, 'utf8')).toBe('');
  await expect(acquireLock(file)).resolves.toBeTypeOf('function');
});

/** Red when the lock is not taken, and when a rejected process writes itself down. */
test('a lock that a living process holds is rejected and stays, whatever its file contains', async () => {
  const held = await Promise.all([heldLock(), heldLock({ pid: 999_999_999, start: '1' }), heldLock({})]);
  const before = held.map(({ file }) => readFileSync(file, 'utf8'));
  await Promise.all(held.map(({ file }) => expect(acquireLock(file)).rejects.toMatchObject(IN_USE)));
  expect(held.map(({ file }) => readFileSync(file, 'utf8'))).toEqual(before);
});

test('a lock is rejected within the process that holds it, and its file can be read meanwhile', async () => {
  const file = join(testFolder(), 'x.lock');
  await acquireLock(file);
  expect(readWords(file)).toMatchObject({ pid: process.pid });
  await expect(acquireLock(file)).rejects.toMatchObject(IN_USE);
});

test('a lock whose owner was killed is taken over, by one of many that try', async () => {
  const { file, owner } = await heldLock();
  await owner.end();
  const tries = await Promise.allSettled(Array.from({ length: 10 }, () => acquireLock(file)));
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(readWords(file)).toMatchObject({ pid: process.pid });
});

test('a lock that no process holds is free, whichever process its file names', async () => {
  for (const words of ['', '{"pid":1,"sta', JSON.stringify(identityOf((await otherProcess()).pid))]) {
    const file = join(testFolder(), 'x.lock');
    writeFileSync(file, words);
    await expect(acquireLock(file)).resolves.toBeTypeOf('function');
  }
});

/** Red when it is rejected at once: a start right after kill -9 of gigabytes would be. */
test('an owner that is about to end is waited for', async () => {
  const { file, owner } = await heldLock();
  const waiting = acquireLock(file);
  await owner.end();
  await expect(waiting).resolves.toBeTypeOf('function');
});

/** Red when the keeper is not checked: a start right after kill -9 of npm would be rejected. */
test('an owner whose keeper was killed is on its way out and is waited for longer', async () => {
  const keeper = await otherProcess();
  const { file, owner } = await heldLock({ keeper: identityOf(keeper.pid) });
  await expect(acquireLock(file)).rejects.toMatchObject(IN_USE);
  await keeper.end();
  const waiting = acquireLock(file);
  await expect(Promise.race([waiting, delay(3_000)])).resolves.toBeUndefined();
  await owner.end();
  await expect(waiting).resolves.toBeTypeOf('function');
});

/** Red when a zombie counts as alive. */
test('a process that has ended and was not reaped is not living', async () => {
  const shell = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 1000'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void shell.kill('SIGKILL'));
  const [printed] = (await once(shell.stdout, 'data')) as [Buffer];
  const zombie = identityOf(Number(printed.toString()));
  await expect.poll(() => isLiving(zombie), { timeout: 20_000 }).toBe(false);
});
