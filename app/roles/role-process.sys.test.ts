import { fork } from 'node:child_process';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';

const PROGRAM = join('dist', 'app', 'roles', 'ingest.js');
const WITHIN = { timeout: 60_000, interval: 50 };

// Red when a role leaves pings without a response: its supervisor would kill it every minute.
it('sends the pings of its supervisor back', async () => {
  const { PATH = '' } = process.env;
  const env = { PATH, HOST: '127.0.0.1', PORT: '0', DATA_DIR: testFolder() };
  const child = fork(PROGRAM, { env, execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const received: unknown[] = [];
  child.on('message', (message) => received.push(message));
  child.send({ type: 'ping' });
  await vi.waitFor(() => expect(received).toContainEqual({ type: 'ping' }), WITHIN);
});
