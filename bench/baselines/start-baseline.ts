import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endChild } from '../../tests/support/child-end.ts';
import { inTime } from '../../tests/support/in-time.ts';

export interface Baseline {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

const START_MS = 20_000;

/** A server of this folder as a process of its own, once it has printed where it listens. */
export async function startBaseline(name: string, ...args: string[]): Promise<Baseline> {
  const child = spawnBaseline(name, args);
  const stop = async () => void (await endChild(child));
  try {
    return { url: await inTime(firstLine(child), START_MS, `the URL of ${name}`), pid: child.pid ?? 0, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** One that prints its result and ends. */
export async function runBaseline(name: string, timeoutMs: number, ...args: string[]): Promise<unknown> {
  const child = spawnBaseline(name, args);
  try {
    return JSON.parse(await inTime(firstLine(child), timeoutMs, `the result of ${name}`));
  } finally {
    child.kill('SIGKILL');
  }
}

function spawnBaseline(name: string, args: string[]): ChildProcess {
  const script = fileURLToPath(new URL(`${name}.js`, import.meta.url));
  return spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the baseline has no stdout');
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('it ended before it said a word')));
  ended.catch(() => undefined);
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  return line;
}
