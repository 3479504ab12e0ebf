import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '../../app/config/role-needs.ts';
import { endChild, hasEnded } from './child-end.ts';
import { seenInTime } from './in-time.ts';
import type { Address } from './proxy/tcp-proxy.ts';

/** One process of a role, as an operator starts it. Needs the build. */
export interface RunningRole {
  readonly role: Role;
  readonly address: Address;
  pid(): number;
  /** SIGKILL. Resolves when it is gone. */
  kill(): Promise<void>;
  /** Again on the same port. Resolves when it says that it is ready. */
  start(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** An ordinary stop: its exit code. */
  stop(): Promise<number | null>;
  /** The last of what it wrote. */
  log(): string;
}

export interface RoleOptions {
  port: number;
  environment: Record<string, string>;
  /** For what it writes. */
  folder: string;
}

const READY_TIMEOUT_MS = 60_000;
const LOG_CHARS = 4_000;

export async function runRoleProcess(role: Role, options: RoleOptions): Promise<RunningRole> {
  const { port, folder } = options;
  const logFile = join(folder, `${role}-${port}.log`);
  let child = await launch(role, options, logFile);
  return {
    role,
    address: { host: '127.0.0.1', port },
    pid: () => child.pid ?? 0,
    kill: async () => void (await endChild(child)),
    async start() {
      child = await launch(role, options, logFile);
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    stop: () => endChild(child, 'SIGTERM'),
    log: () => lastOf(logFile),
  };
}

async function launch(
  role: Role,
  { port, environment }: RoleOptions,
  logFile: string,
): Promise<ChildProcess> {
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, [join('dist', 'app', 'roles', `${role}.js`)], {
    env: { ...process.env, HOST: '127.0.0.1', PORT: String(port), ...environment },
    stdio: ['ignore', 'pipe', log],
  });
  let output = '';
  child.stdout?.on('data', (bytes: Buffer) => {
    output += bytes.toString();
  });
  const isReady = () => output.includes(`Metergate ${role} ready on `) || hasEnded(child) || undefined;
  try {
    await seenInTime(isReady, { timeoutMs: READY_TIMEOUT_MS }, `${role} to be ready`);
    if (!hasEnded(child)) return child;
    throw new Error(`${role} ended with ${child.exitCode}: ${lastOf(logFile)}`);
  } catch (error) {
    await endChild(child);
    throw error;
  }
}

function lastOf(logFile: string): string {
  return readFileSync(logFile, 'utf8').slice(-LOG_CHARS);
}
