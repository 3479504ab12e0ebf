import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { endChild } from '../support/child-end.ts';
import { inTime } from '../support/in-time.ts';
import type { StoreProcess } from './store-process.ts';

/** Compiled: a process of its own cannot be started from the source. Run from the project's root. */
const PROGRAM = 'dist-tests/tests/servers/warehouse-server.js';

/** Each statement holds a thread while it runs: those of an installation's connections, and ours. */
const THREADS = '16';
/** Of an engine that first reads what a killed one left. */
const START_TIMEOUT_MS = 60_000;

export async function startWarehouseProcess(directory: string): Promise<StoreProcess> {
  let { child, port } = await run(directory);
  return {
    address: () => ({ host: '127.0.0.1', port }),
    kill: async () => void (await endChild(child)),
    async start() {
      ({ child, port } = await run(directory));
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
  };
}

async function run(directory: string): Promise<{ child: ChildProcess; port: number }> {
  const env = { ...process.env, UV_THREADPOOL_SIZE: THREADS };
  const child = fork(PROGRAM, [directory], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the warehouse ended with ${code}`);
  });
  ended.catch(() => undefined); // after the start nothing waits for it
  try {
    const started = Promise.race([once(child, 'message'), ended]);
    const [{ url }] = (await inTime(started, START_TIMEOUT_MS, 'the warehouse')) as [{ url: string }];
    return { child, port: Number(new URL(url).port) };
  } catch (error) {
    await endChild(child);
    throw error;
  }
}
