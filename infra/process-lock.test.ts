import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startStopwatch } from './conformance/stopwatch.ts';
import { identityOf, isLiving } from './process-identity.ts';
import { acquireLock } from './process-lock.ts';
import { testFolder } from './test-folder.ts';

const IN_USE = { name: 'Fatal', code: 'data_dir_in_use' };

/** Another process: it does nothing until it is killed. */
async function otherProcess(): Promise<{ pid: number; end(): Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], {
    stdio: 'ignore',
  });
  await once(child, 'spawn');
  onTestFinished(() => void child.kill('SIGKILL'));
  const end = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return { pid: child.pid ?? 0, end };
}

function lockHeldBy(pid: number, more: object = {}): string {
  const file = join(testFolder(), 'x.lock');
  writeFileSync(file, JSON.stringify({ ...identityOf(pid), ...more }));
  return file;
}

test('a free lock is taken, names this process, and is gone when it is given back', async () => {
  const file = join(testFolder(), 'locks', 'x.lock');
  const release = await acquireLock(file, { waitMs: 0 });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(identityOf(process.pid));
  release();
  expect(existsSync(file)).toBe(false);
});

/** Red when a living owner is taken for a dead one. */
test('a lock that a living process holds is refused at once, and stays', async () => {
  const owner = await otherProcess();
  const file = lockHeldBy(owner.pid);
  const passedMs = startStopwatch();
  await expect(acquireLock(file, { waitMs: 0 })).rejects.toMatchObject(IN_USE);
  expect(passedMs()).toBeLessThan(1_000);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: owner.pid });
});

test('a lock whose owner was killed is taken over', async () => {
  const owner = await otherProcess();
  const file = lockHeldBy(owner.pid);
  await owner.end();
  await acquireLock(file, { waitMs: 0 });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid });
});

/** Red when only the pid is compared. */
test('a lock of an earlier process whose pid was given out again is taken over', async () => {
  const other = await otherProcess();
  const file = lockHeldBy(other.pid, { start: 'earlier' });
  await expect(acquireLock(file, { waitMs: 0 })).resolves.toBeTypeOf('function');
});

test('a lock that a power cut left empty, and one with our own pid from before, are taken over', async () => {
  const empty = join(testFolder(), 'empty.lock');
  writeFileSync(empty, '');
  await expect(acquireLock(empty, { waitMs: 0 })).resolves.toBeTypeOf('function');
  await expect(acquireLock(lockHeldBy(process.pid), { waitMs: 0 })).resolves.toBeTypeOf('function');
});

/** Two containers on one volume. Red without the socket: the pid of one is our own, or of nobody here. */
test('a lock of a process that lives where pids are of another container is refused, and stays', async () => {
  const file = join(testFolder(), 'x.lock');
  const release = await acquireLock(file, { waitMs: 0 });
  writeFileSync(file, JSON.stringify({ pid: 999_999_999, start: '1' }));
  await expect(acquireLock(file, { waitMs: 0 })).rejects.toMatchObject(IN_USE);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: 999_999_999 });
  release();
  await expect(acquireLock(file, { waitMs: 0 })).resolves.toBeTypeOf('function');
});

test('an owner that ends is waited for, for as long as was said', async () => {
  const owner = await otherProcess();
  const file = lockHeldBy(owner.pid);
  await expect(acquireLock(file, { waitMs: 100 })).rejects.toMatchObject(IN_USE);
  const waiting = acquireLock(file, { waitMs: 10_000 });
  await owner.end();
  await expect(waiting).resolves.toBeTypeOf('function');
});

/** Red when the keeper is not looked at: a start right after kill -9 of npm would be refused. */
test('an owner whose keeper was killed is on its way out and is waited for', async () => {
  const [owner, keeper] = [await otherProcess(), await otherProcess()];
  const file = lockHeldBy(owner.pid, { keeper: identityOf(keeper.pid) });
  await expect(acquireLock(file, { waitMs: 0 })).rejects.toMatchObject(IN_USE);
  await keeper.end();
  const waiting = acquireLock(file, { waitMs: 0 });
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
