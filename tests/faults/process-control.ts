import { identityOf, isLiving, signal } from '../../infra/platform/process-identity.ts';
import { seenInTime } from '../support/in-time.ts';
import type { Instance } from '../support/instance.ts';
import { lockOwner } from '../support/processes.ts';

/** Pauses a process (SIGSTOP) while the work is done; it continues whatever becomes of the work. */
export async function whileStopped<T>(pid: number, work: () => Promise<T>): Promise<T> {
  if (!signal(pid, 'SIGSTOP')) throw new Error(`process ${pid}, which was to be paused, has ended`);
  try {
    return await work();
  } finally {
    signal(pid, 'SIGCONT');
  }
}

const ENDED = { timeoutMs: 60_000 };
/** Longer than it waits for the control side. */
const READYZ_MS = 5_000;

/** An ordinary stop of the data plane; resolves when its supervisor has started it again and it is ready. */
export async function restartDataPlane({ dataDir, origin, pid }: Instance): Promise<void> {
  const dataPlane = identityOf(pid('data plane'));
  signal(dataPlane.pid, 'SIGTERM');
  await seenInTime(() => !isLiving(dataPlane) || undefined, ENDED, 'the data plane to end');
  const isReady = async () => {
    if (!lockOwner(dataDir, 'ingest')) return undefined;
    // It responds before it has opened its keys, and the control side may be stopped.
    const readiness: { dataPlane?: unknown } = await fetch(`${origin}/readyz`, {
      signal: AbortSignal.timeout(READYZ_MS),
    })
      .then((response) => response.json() as object)
      .catch(() => ({}));
    return readiness.dataPlane === 'ok' || undefined;
  };
  await seenInTime(isReady, ENDED, 'a data plane after one that was ended in order');
}
