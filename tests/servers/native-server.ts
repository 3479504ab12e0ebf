import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { poll } from '../../infra/platform/poll.ts';
import { identityOf, isLiving, type ProcessIdentity, signal } from '../../infra/platform/process-identity.ts';
import { endChild } from '../support/child-end.ts';
import { foldersOfDeadRuns } from '../support/processes.ts';
import type { TestingServer } from './testing-server.ts';

export interface NativeServer {
  name: string;
  url: string;
  /** Called before each start on empty data: makes there what the server needs. */
  prepare(folder: string): void;
  /** The server itself, in the foreground; it keeps all it writes under the folder. */
  command(folder: string): { program: string; options: string[] };
  /** True once the server responds. */
  isUp(): Promise<boolean>;
}

const PREFIX = 'metergate-testing-';
const UP = { timeoutMs: 120_000, everyMs: 50 };

/** Runs a server of this machine in a folder of its own, which goes with it. */
export async function startNativeServer(spec: NativeServer): Promise<TestingServer> {
  clearDeadRuns();
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-${spec.name}-`));
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    child = run(spec, folder);
    const ended = once(child, 'exit').then(() => 'ended' as const);
    const up = poll(async () => (child?.exitCode === null && (await spec.isUp())) || undefined, UP);
    if ((await Promise.race([up, ended])) === true) return;
    await kill();
    throw new Error(`${spec.name} does not start: ${lastWords(folder)}`);
  }

  async function kill(): Promise<void> {
    if (child) await endChild(child);
  }

  async function fill(): Promise<void> {
    mkdirSync(data(folder));
    spec.prepare(data(folder));
    await start();
  }

  await fill();
  return {
    url: spec.url,
    kill,
    pause: async () => void child?.kill('SIGSTOP'),
    resume: async () => void child?.kill('SIGCONT'),
    async restart({ wiped = false } = {}) {
      await kill();
      if (!wiped) return await start();
      rmSync(data(folder), { recursive: true });
      await fill();
    },
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function data(folder: string): string {
  return join(folder, 'data');
}

function run(spec: NativeServer, folder: string): ChildProcess {
  const { program, options } = spec.command(data(folder));
  const output = openSync(join(folder, 'output.log'), 'a');
  const child = spawn(program, options, { cwd: data(folder), stdio: ['ignore', output, output] });
  child.on('error', () => undefined); // its exit code or its silence shows it
  writeFileSync(join(folder, 'server.json'), JSON.stringify(identityOf(child.pid ?? 0)));
  return child;
}

function lastWords(folder: string): string {
  return readFileSync(join(folder, 'output.log'), 'utf8').slice(-2_000);
}

/** A run that was killed leaves its servers behind; the next one ends them. */
function clearDeadRuns(): void {
  for (const folder of foldersOfDeadRuns(PREFIX)) {
    const left = serverIn(folder);
    if (left && isLiving(left)) signal(left.pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

function serverIn(folder: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'server.json'), 'utf8')) as ProcessIdentity;
  } catch {
    return undefined;
  }
}
