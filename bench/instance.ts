import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real Metergate: `npm start` on a data folder of its own, its processes in reach. */
export interface Instance {
  readonly origin: string;
  readonly dataDir: string;
  /** Throws when it is not running. */
  pid(role: Role): number;
  /** SIGKILL, once it is running. Resolves when that process is gone. */
  kill(role: Role): Promise<void>;
  /** An ordinary stop: resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Starts again on the same folder and port after a stop or kill of `npm start`. */
  start(): Promise<void>;
  keys(): DemoKeys;
  /** What the processes wrote on stderr, the last part: for the message of a failed test. */
  log(): string;
  /** Ends whatever still runs and removes the folder. */
  remove(): Promise<void>;
  /** Ends whatever still runs and leaves the folder, with data and log: resolves with its path. */
  leave(): Promise<string>;
}

export type Role = 'supervisor' | 'data plane' | 'control side' | 'postgres';

export interface DemoKeys {
  live: { secret: string; publishable: string };
  test: { secret: string; publishable: string };
}

const READY = /^Metergate ready on (http:\/\/\S+)$/m;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const LOG_CHARS_KEPT = 8_000;

export interface InstanceOptions {
  /** Where its data are to stand; else in the folder that it has anyway. */
  dataDir?: string;
  /** Puts data there before the first start. */
  prepare?: (dataDir: string) => Promise<void>;
  /** What to put before its command at each start: a tracer perhaps, that becomes the process itself. */
  under?: () => string[];
}

/** `environment` is added to our own. */
export async function startInstance(
  environment: Record<string, string> = {},
  { dataDir: given, prepare = async () => undefined, under = () => [] }: InstanceOptions = {},
): Promise<Instance> {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-'));
  // The database server may run under another account, which has to get through here.
  chmodSync(folder, 0o755);
  const dataDir = given ?? join(folder, 'data');
  const logFile = join(folder, 'stderr.log');
  const port = await freePort();
  const settings = { ...environment, DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: String(port) };
  await prepare(dataDir);
  const start = () => spawnReady([...under(), process.execPath, 'infra/start.mjs'], settings, logFile);
  let child = await start();
  const find = (role: Role): number | undefined => pidOf(role, child, dataDir);
  const kill = async (target: number): Promise<void> => {
    process.kill(target, 'SIGKILL');
    await until(() => !isAlive(target), STOP_TIMEOUT_MS, `process ${target} to end`);
  };
  const end = async (): Promise<void> => {
    for (const target of survivors(child, dataDir)) await kill(target);
  };
  return {
    origin: `http://127.0.0.1:${port}`,
    dataDir,
    pid(role) {
      const pid = find(role);
      if (pid === undefined) throw new Error(`no ${role} is running`);
      return pid;
    },
    async kill(role) {
      await kill(await until(() => find(role), START_TIMEOUT_MS, `a ${role}`));
    },
    async stop() {
      child.kill('SIGTERM');
      await until(() => hasEnded(child), STOP_TIMEOUT_MS, 'an ordinary stop');
      return child.exitCode;
    },
    async start() {
      child = await start();
    },
    keys: () => JSON.parse(readFileSync(join(dataDir, 'demo-keys.json'), 'utf8')) as DemoKeys,
    log: () => readFileSync(logFile, 'utf8').slice(-LOG_CHARS_KEPT),
    async remove() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
    async leave() {
      await end();
      return folder;
    },
  };
}

async function spawnReady(
  [command = '', ...args]: string[],
  settings: Record<string, string>,
  logFile: string,
): Promise<ChildProcess> {
  const child = spawn(command, args, {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = createWriteStream(logFile, { flags: 'a' });
  child.stderr.pipe(log);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const settled = () => READY.test(output) || hasEnded(child);
  await until(settled, START_TIMEOUT_MS, 'the ready line').catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  if (hasEnded(child))
    throw new Error(`npm start ended with ${child.exitCode}: ${readFileSync(logFile, 'utf8')}`);
  return child;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

const PROGRAM: Record<'data plane' | 'control side', RegExp> = {
  'data plane': /ingest\/main\.js/,
  'control side': /infra\/control-side\.js/,
};

function pidOf(role: Role, supervisor: ChildProcess, dataDir: string): number | undefined {
  if (role === 'supervisor') return hasEnded(supervisor) ? undefined : supervisor.pid;
  if (role === 'postgres') return postmasterPid(dataDir);
  return childrenOf(supervisor.pid ?? 0).find((pid) => PROGRAM[role].test(commandLine(pid)));
}

function survivors(supervisor: ChildProcess, dataDir: string): number[] {
  const own = supervisor.pid !== undefined && !hasEnded(supervisor) ? [supervisor.pid] : [];
  const postmaster = postmasterPid(dataDir);
  const children = own.flatMap(childrenOf);
  return [...own, ...children, ...(postmaster === undefined ? [] : [postmaster])].filter(isAlive);
}

/** The server runs in a session of its own: its pid file names it. */
function postmasterPid(dataDir: string): number | undefined {
  const files = readdirSync(join(dataDir, 'postgres'), { recursive: true, encoding: 'utf8' });
  const file = files.find((name) => name.endsWith('postmaster.pid'));
  if (file === undefined) return undefined;
  const pid = Number(readFileSync(join(dataDir, 'postgres', file), 'utf8').split('\n')[0]);
  return isAlive(pid) ? pid : undefined;
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => parentOf(pid) === parent).map(Number);
}

/** Field 4 of /proc/PID/stat; field 2, the name, may hold spaces and parentheses. */
function parentOf(pid: string): number {
  const stat = readProc(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function commandLine(pid: number): string {
  return readProc(String(pid), 'cmdline').replaceAll('\0', ' ');
}

/** '' when the process ended meanwhile. */
function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  const stat = readProc(String(pid), 'stat');
  return stat !== '' && !/\) Z /.test(stat);
}

/** Looks every 10 ms until there is something to see, and gives that; throws when the time is over. */
async function until<T>(look: () => T | false | undefined, timeoutMs: number, what: string): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const seen = look();
    if (seen !== false && seen !== undefined) return seen;
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await new Promise((wake) => setTimeout(wake, 10));
  }
}

/**
 * Below the ports that clients are given (32768… on Linux): a client that knocks at a dead server's port from
 * that very port connects to itself, and then the port is taken.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const server = createServer().listen(port, '127.0.0.1');
    const free = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!free) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
