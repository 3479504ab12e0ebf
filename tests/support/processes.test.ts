import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { identityOf } from '../../infra/platform/process-identity.ts';
import { inTime } from './in-time.ts';
import { descendantsOf, endByForce } from './processes.ts';

// Fault this catches: an end by SIGTERM. An interrupted suite may have paused the control side.
it('a process that is held still is ended by force all the same', async () => {
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  const ended = once(child, 'exit');
  child.kill('SIGSTOP');
  const target = identityOf(child.pid ?? 0);
  await endByForce(() => [target]);
  expect(await inTime(ended, 5_000, 'its end')).toEqual([null, 'SIGKILL']);
});

it('the descendants of a process are its children and theirs', async () => {
  const shell = spawn('sh', ['-c', 'sleep 60 & echo begun; wait']);
  try {
    await inTime(once(shell.stdout, 'data'), 5_000, 'the shell');
    const pid = shell.pid ?? 0;
    expect(descendantsOf(process.pid)).toEqual(expect.arrayContaining([pid, ...descendantsOf(pid)]));
    expect(descendantsOf(pid)).toHaveLength(1);
  } finally {
    const targets = [shell.pid ?? 0, ...descendantsOf(shell.pid ?? 0)].map(identityOf);
    await endByForce(() => targets);
  }
});
