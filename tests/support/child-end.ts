import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { inTime } from './in-time.ts';

export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Signals a child that runs, and gives its exit code when it has ended; null after SIGKILL. */
export async function endChild(
  child: ChildProcess,
  signal: NodeJS.Signals = 'SIGKILL',
  timeoutMs = 20_000,
): Promise<number | null> {
  if (hasEnded(child) || child.pid === undefined) return child.exitCode;
  const ended = once(child, 'exit');
  child.kill(signal);
  await inTime(ended, timeoutMs, `the end of ${child.spawnfile} by ${signal}`);
  return child.exitCode;
}
