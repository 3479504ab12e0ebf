import type { ChildProcess } from 'node:child_process';
import { isPaused } from '../infra/platform/process-identity.ts';
import { isPing, type PingMessage } from './roles/role-process.ts';

/**
 * A process may be held up this often, times `everyMs`: by a machine that swaps or a disk that hangs. What is
 * counted is how often our own timer runs, so no sleep of the machine or of this process is taken for silence.
 */
const SILENT_TICKS_MAX = 12;

export interface LivenessOptions {
  everyMs: number;
  /** It has not responded for too long; called again after as long once more. */
  onHung(): void;
}

/**
 * Pings a process until it has ended. One that hangs does not exit: after a fatal error of V8 one was seen to
 * stay for eight minutes. A process that a signal has paused is left alone.
 */
export function watchLiveness(child: ChildProcess, { everyMs, onHung }: LivenessOptions): void {
  let isAwaited = false;
  let silentTicks = 0;

  function tick(): void {
    if (!isAwaited) {
      isAwaited = true;
      silentTicks = 0;
      // One at a time: no messages gather for a process that is paused.
      if (child.connected) child.send({ type: 'ping' } satisfies PingMessage, () => undefined);
      return;
    }
    silentTicks = isPaused(child.pid ?? 0) ? 0 : silentTicks + 1;
    if (silentTicks < SILENT_TICKS_MAX) return;
    silentTicks = 0;
    onHung();
  }

  const timer = setInterval(tick, everyMs);
  child.on('message', (message) => {
    if (isPing(message)) isAwaited = false;
  });
  child.once('exit', () => clearInterval(timer));
}
