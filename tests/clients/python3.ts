import { type ChildProcess, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { MUTANT_VARIABLE } from '../mutants/mutated-by.ts';
import { pythonSources } from '../mutants/python-mutants.ts';

export interface PythonStart {
  args: readonly string[];
  /** Added to our own. */
  environment?: Record<string, string>;
}

export interface PythonRun extends PythonStart {
  timeoutMs: number;
  /** What it reads on stdin. */
  input?: string;
}

/** Runs a program with the Python SDK's sources. Throws without python3: the SDK would be left untested. */
export function runPython({ args, timeoutMs, environment, input = '' }: PythonRun): SpawnSyncReturns<string> {
  const ran = spawnSync('python3', [...STRICT, ...args], {
    ...optionsOf(environment),
    encoding: 'utf8',
    timeout: timeoutMs,
    input,
  });
  if (ran.error && 'code' in ran.error && ran.error.code === 'ENOENT') {
    throw new Error('The Python SDK needs python3, 3.9 or newer (Debian: apt-get install python3).');
  }
  return ran;
}

/** The same, for its caller to talk to and to end. */
export function startPython({ args, environment }: PythonStart): ChildProcess {
  return spawn('python3', [...STRICT, ...args], optionsOf(environment));
}

const STRICT = ['-X', 'dev', '-W', 'error'];

function optionsOf(environment: Record<string, string> | undefined) {
  return {
    cwd: resolve('sdk', 'python'),
    env: {
      ...process.env,
      PYTHONPATH: pythonSources(environment?.[MUTANT_VARIABLE]),
      PYTHONDONTWRITEBYTECODE: '1',
      ...environment,
    },
  };
}
