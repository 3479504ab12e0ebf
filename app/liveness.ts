import type { ChildProcess } from 'node:child_process';
import type { Logger } from 'pino';
import { isPaused } from '../infra/platform/process-identity.ts';
import { isPing, type PingMessage } from './roles/role-process.ts';

/**
 * A process may be held up this often, times `everyMs`: by a machine that swaps or a disk that hangs. Counted
 * is how often our own timer runs, so that no sleep of the machine or of this process looks like silence.
 */
const SILENT_TICKS_MAX = 12;

export interface LivenessOptions {
  everyMs: number;
  /** Of the process. */
  log: Logger;
}

/**
 * Pings a process until it has ended, and ends one by force that does not respond. One that hangs does not
 * exit: after a fatal error of V8 one was seen to stay for eight minutes. A process that a signal has paused
 * is left alone.
 */
export function watchLiveness(child: ChildProcess, { everyMs, log }: LivenessOptions): void {
  let isAwaited = false;
  let silentTicks = 0;

  function tick(): void {
    if (!isAwaited) {
      isAwaited = true;
      silentTicks = 0;
      // One at a time: a process that is paused has one message to read, however long that lasts.
      if (child.connected) child.send({ type: 'ping' } satisfies PingMessage, () => undefined);
      return;
    }
    silentTicks = isPaused(child.pid ?? 0) ? 0 : silentTicks + 1;
    if (silentTicks < SILENT_TICKS_MAX) return;
    silentTicks = 0;
    log.error({ pid: child.pid }, 'a process does not respond and is ended by force');
    child.kill('SIGKILL');
  }

  const timer = setInterval(tick, everyMs);
  child.on('message', (message) => {
    if (isPing(message)) isAwaited = false;
  });
  child.once('exit', () => clearInterval(timer));
}
