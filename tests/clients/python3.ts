import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const PYTHON_SDK = resolve('sdk', 'python');

export interface PythonRun {
  args: readonly string[];
  timeoutMs: number;
  /** Added to our own. */
  environment?: Record<string, string>;
  /** What it reads on stdin. */
  input?: string;
}

/** Runs a program with the Python SDK's sources. Throws without python3: the SDK would be left untested. */
export function runPython({ args, timeoutMs, environment, input = '' }: PythonRun): SpawnSyncReturns<string> {
  const ran = spawnSync('python3', ['-X', 'dev', '-W', 'error', ...args], {
    cwd: PYTHON_SDK,
    env: { ...process.env, PYTHONPATH: 'src', PYTHONDONTWRITEBYTECODE: '1', ...environment },
    encoding: 'utf8',
    timeout: timeoutMs,
    input,
  });
  if (ran.error && 'code' in ran.error && ran.error.code === 'ENOENT') {
    throw new Error('The Python SDK needs python3, 3.9 or newer (Debian: apt-get install python3).');
  }
  return ran;
}
