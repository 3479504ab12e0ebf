import { signal } from '../../infra/platform/process-identity.ts';

/** Holds a process still (SIGSTOP) while the work is done; it goes on whatever becomes of the work. */
export async function whileStopped<T>(pid: number, work: () => Promise<T>): Promise<T> {
  if (!signal(pid, 'SIGSTOP')) throw new Error(`process ${pid}, which was to be held still, has ended`);
  try {
    return await work();
  } finally {
    signal(pid, 'SIGCONT');
  }
}
