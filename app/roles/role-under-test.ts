import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { quietPort } from '../../tests/support/quiet-port.ts';

/** What `npm start` runs. */
export const ALL_IN_ONE = 'everything';
const END_WITHIN_MS = 60_000;
const READY = { timeout: 60_000, interval: 50 };

interface StartedRole {
  child: ChildProcess;
  url: string;
  /** All that it wrote until now. */
  output(): string;
}

/**
 * A role as a process of its own, as an operator starts it, with this configuration only. Needs the build.
 */
async function startRole(role: string, environment: Record<string, string>): Promise<StartedRole> {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-roles-'));
  const { PATH = '' } = process.env;
  const port = await quietPort();
  const env = { PATH, HOST: '127.0.0.1', PORT: String(port), DATA_DIR: folder, ...environment };
  const program =
    role === ALL_IN_ONE ? join('dist', 'app', 'all-in-one.js') : join('dist', 'app', 'roles', `${role}.js`);
  const child = spawn(process.execPath, [program], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output += bytes.toString();
    });
  }
  return { child, url: `http://127.0.0.1:${port}`, output: () => output };
}

/** Resolves when it has ended by itself. */
export async function endOfRole(role: string, environment: Record<string, string>) {
  const { child, output } = await startRole(role, environment);
  const [exitCode] = await once(child, 'close', { signal: AbortSignal.timeout(END_WITHIN_MS) });
  return { exitCode: exitCode as number | null, output: output() };
}

/** Resolves to where it is once it reports that it is ready. */
export async function readyRole(role: string, environment: Record<string, string>): Promise<string> {
  const { child, url, output } = await startRole(role, environment);
  await vi.waitFor(() => {
    expect(child.exitCode, output()).toBeNull();
    expect(output()).toContain(`Metergate${role === ALL_IN_ONE ? '' : ` ${role}`} ready on`);
  }, READY);
  return url;
}
