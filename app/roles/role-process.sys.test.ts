import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';

const PROGRAM = join('dist', 'app', 'roles', 'ingest.js');
const WITHIN = { timeout: 60_000, interval: 50 };

// Red when a role leaves pings without a response: its supervisor would kill it every minute.
it('sends the pings of its supervisor back', async () => {
  const child = startRole(testFolder());
  const received: unknown[] = [];
  child.on('message', (message) => received.push(message));
  child.send({ type: 'ping' });
  await vi.waitFor(() => expect(received).toContainEqual({ type: 'ping' }), WITHIN);
});

// Red when it ends with the error of a write alone, which names neither the cause nor the cure.
it('ends with a code and what to do where a start finds a full disk', async () => {
  const dataDir = testFolder();
  mkdirSync(join(dataDir, 'locks'));
  symlinkSync('/dev/full', join(dataDir, 'locks', 'ingest.lock'));
  const child = startRole(dataDir);
  let output = '';
  child.stderr?.on('data', (bytes: Buffer) => {
    output += bytes;
  });
  await vi.waitFor(() => expect(child.exitCode).toBe(1), WITHIN);
  await vi.waitFor(() => expect(output).toContain('"code":"disk_full"'), WITHIN);
  expect(output).toContain(
    `There is no room on the disk of ${dataDir} (ENOSPC): free some, and start again.`,
  );
});

/** Under this process as its supervisor. */
function startRole(dataDir: string): ChildProcess {
  const { PATH = '' } = process.env;
  const env = { PATH, HOST: '127.0.0.1', PORT: '0', DATA_DIR: dataDir };
  const child = fork(PROGRAM, { env, execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}
