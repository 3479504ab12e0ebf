import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

export const PYTHON_SDK = resolve('sdk', 'python');

/** So that `import metergate` finds the sources, and no compiled file is left among them. */
export const PYTHON_ENVIRONMENT = {
  ...process.env,
  PYTHONPATH: resolve(PYTHON_SDK, 'src'),
  PYTHONDONTWRITEBYTECODE: '1',
};

/** Throws where there is no python3: its SDK would be left untested. */
export function runPython(args: readonly string[], timeoutMs: number): SpawnSyncReturns<string> {
  const ran = spawnSync('python3', args, {
    cwd: PYTHON_SDK,
    env: PYTHON_ENVIRONMENT,
    encoding: 'utf8',
    timeout: timeoutMs,
  });
  if (ran.error && 'code' in ran.error && ran.error.code === 'ENOENT') {
    throw new Error('The Python SDK needs python3 3.9 or newer (Debian: apt-get install python3).');
  }
  return ran;
}
