import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { inTime } from './in-time.ts';
import { familyCost, processCost } from './process-cost.ts';

// Fault this catches: only children that live are counted, so that a family whose sessions end costs less
// than nothing.
it('a family has cost what those of it cost that have ended', async () => {
  const busy = `${process.execPath} -e 'while (process.cpuUsage().user < 300_000);'`;
  const shell = spawn('sh', ['-c', `${busy}; echo ended; exec sleep 60`]);
  try {
    await inTime(once(shell.stdout, 'data'), 20_000, 'the end of the busy one');
    const pid = shell.pid ?? 0;
    expect(processCost(pid).cpuMicros).toBeLessThan(100_000);
    expect(familyCost(pid).cpuMicros).toBeGreaterThanOrEqual(100_000);
  } finally {
    shell.kill('SIGKILL');
  }
});
