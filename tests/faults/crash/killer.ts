import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Arrived, KillOrder } from './kill-on-response.ts';

export type Killer = ReturnType<typeof startKiller>;

const FIRE_TIMEOUT_MS = 10_000;

/** The process of kill-on-response.ts. Needs the build. */
export function startKiller() {
  const child: ChildProcess = fork(join('dist-tests', 'tests', 'faults', 'crash', 'kill-on-response.js'));
  return {
    /**
     * Resolves when the server was killed and the connection is over, with what had arrived of the response.
     * Rejects when no response came, or the server had ended before: then nothing was killed.
     */
    async fire({ request, ...order }: Omit<KillOrder, 'request'> & { request: Buffer }): Promise<Buffer> {
      const arrived = once(child, 'message', { signal: AbortSignal.timeout(FIRE_TIMEOUT_MS) });
      child.send({ ...order, request: request.toString('base64') } satisfies KillOrder);
      const [{ killed, response }] = (await arrived) as [Arrived];
      if (!killed) throw new Error(`process ${order.pid} was not killed: no response came from it`);
      return Buffer.from(response, 'base64');
    },
    close: () => void child.kill('SIGKILL'),
  };
}
