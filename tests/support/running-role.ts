import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '../../app/config/role-needs.ts';
import { endChild } from './child-end.ts';
import type { Address } from './proxy/tcp-proxy.ts';
import { startReady } from './ready-process.ts';

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

const LOG_CHARS = 4_000;

export async function runRoleProcess(role: Role, options: RoleOptions): Promise<RunningRole> {
  const { port, environment, folder } = options;
  const logFile = join(folder, `${role}-${port}.log`);
  const start = () =>
    startReady({
      name: role,
      command: [process.execPath, join('dist', 'app', 'roles', `${role}.js`)],
      environment: { HOST: '127.0.0.1', PORT: String(port), ...environment },
      readyLine: new RegExp(`Metergate ${role} ready on `),
      logFile,
    });
  let child = await start();
  return {
    role,
    address: { host: '127.0.0.1', port },
    pid: () => child.pid ?? 0,
    kill: async () => void (await endChild(child)),
    async start() {
      child = await start();
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    stop: () => endChild(child, 'SIGTERM'),
    log: () => readFileSync(logFile, 'utf8').slice(-LOG_CHARS),
  };
}
