import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataDirAt } from '../../infra/platform/data-dir.ts';
import { readEndpoints } from '../../infra/platform/endpoints-file.ts';
import { commandOf, identityOf } from '../../infra/platform/process-identity.ts';
import { findPostmaster } from '../../infra/postgres/postmaster.ts';
import { endChild, hasEnded } from './child-end.ts';
import { seenInTime } from './in-time.ts';
import { putCluster } from './prepared-cluster.ts';
import { childrenOf, endByForce, lockOwner } from './processes.ts';
import { quietPort } from './quiet-port.ts';
import { startReady } from './ready-process.ts';

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
  /** Of its Postgres, as it runs now. */
  postgresUrl(): string;
  /** What the processes wrote on stderr, the last part: for the message of a failed test. */
  log(): string;
  /** Every line of level error or worse that they ever wrote. */
  errors(): string[];
  /** Everything that the processes wrote on stdout and stderr, of all starts. */
  written(): string;
  /** Ends whatever still runs and removes the folder. */
  remove(): Promise<void>;
  /** Ends whatever still runs and leaves the folder, with data and log: resolves with its path. */
  leave(): Promise<string>;
}

export type Role = 'supervisor' | 'data plane' | 'control side' | 'postgres';

export interface DemoKeys {
  workspaceId: string;
  live: { secret: string; publishable: string };
  test: { secret: string; publishable: string };
}

const READY = /^Metergate ready on http:\/\/\S+$/m;
const RUNNING = { timeoutMs: 60_000 };
const LOG_CHARS_KEPT = 8_000;
/** Of pino: 50 is error, 60 is fatal. */
const ERROR_LINES = /^.*"level":(?:50|60).*$/gm;

export interface InstanceOptions {
  /** Where its data are to stand; else in the folder that it has anyway. */
  dataDir?: string;
  /** Where its processes write what they have to say; else in that folder as well. */
  logFile?: string;
  /** Puts data there before the first start; by default an empty cluster, where the run has prepared one. */
  prepare?: (dataDir: string) => Promise<void>;
  /** What to put before its command at each start: a tracer perhaps, that becomes the process itself. */
  under?: () => string[];
}

/** `environment` is added to our own. A start that fails leaves nothing but a data folder that was given. */
export async function startInstance(
  environment: Record<string, string> = {},
  options: InstanceOptions = {},
): Promise<Instance> {
  const { prepare = async (dataDir) => putCluster(dataDir), under = () => [] } = options;
  const folder = mkdtempSync(join(tmpdir(), 'metergate-'));
  try {
    // The database server may run under another account, which has to get through here.
    chmodSync(folder, 0o755);
    const { dataDir = join(folder, 'data'), logFile = join(folder, 'stderr.log') } = options;
    const outputFile = join(folder, 'stdout.log');
    const port = await quietPort();
    // Tests count what is there: the demo's keys without its data, unless they ask for it.
    const settings = {
      SEED_DEMO: 'keys',
      ...environment,
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      PORT: String(port),
    };
    await prepare(dataDir);
    const start = () =>
      startReady({
        name: 'npm start',
        command: [...under(), process.execPath, 'app/start.mjs'],
        environment: settings,
        readyLine: READY,
        logFile,
        outputFile,
        end: (child) => endAll(child, dataDir),
      });
    return reached({ folder, dataDir, logFile, outputFile, port, start }, await start());
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

interface Place {
  folder: string;
  dataDir: string;
  logFile: string;
  outputFile: string;
  port: number;
  start(): Promise<ChildProcess>;
}

function reached(
  { folder, dataDir, logFile, outputFile, port, start }: Place,
  started: ChildProcess,
): Instance {
  let child = started;
  const find = (role: Role): number | undefined => pidOf(role, child, dataDir);
  const logged = () => readFileSync(logFile, 'utf8');
  return {
    origin: `http://127.0.0.1:${port}`,
    dataDir,
    pid(role) {
      const pid = find(role);
      if (pid === undefined) throw new Error(`no ${role} is running`);
      return pid;
    },
    async kill(role) {
      const target = identityOf(await seenInTime(() => find(role), RUNNING, `a ${role}`));
      await endByForce(() => [target]);
    },
    async stop() {
      return await endChild(child, 'SIGTERM');
    },
    async start() {
      child = await start();
    },
    keys: () => JSON.parse(readFileSync(join(dataDir, 'demo-keys.json'), 'utf8')) as DemoKeys,
    postgresUrl: () => readEndpoints(dataDirAt(dataDir).endpoints)?.postgresUrl ?? '',
    log: () => logged().slice(-LOG_CHARS_KEPT),
    errors: () => logged().match(ERROR_LINES) ?? [],
    written: () => `${logged()}\n${readFileSync(outputFile, 'utf8')}`,
    async remove() {
      await endAll(child, dataDir);
      rmSync(folder, { recursive: true, force: true });
    },
    async leave() {
      await endAll(child, dataDir);
      return folder;
    },
  };
}

const PROGRAM: Record<'data plane' | 'control side', RegExp> = {
  'data plane': /app\/roles\/ingest\.js/,
  'control side': /app\/control-side\.js/,
};

function pidOf(role: Role, supervisor: ChildProcess, dataDir: string): number | undefined {
  if (role === 'supervisor') return hasEnded(supervisor) ? undefined : supervisor.pid;
  if (role === 'postgres') return findPostmaster(dataDirAt(dataDir).postgres)?.pid;
  return childrenOf(supervisor.pid ?? 0).find((pid) => PROGRAM[role].test(commandOf(pid)));
}

/** By force, whatever runs: orphans of a supervisor that was killed are found by their locks. */
async function endAll(supervisor: ChildProcess, dataDir: string): Promise<void> {
  const own = supervisor.pid === undefined || hasEnded(supervisor) ? [] : [supervisor.pid];
  const family = [...own, ...own.flatMap(childrenOf)].map(identityOf);
  await endByForce(() => {
    const owners = (['ingest', 'control'] as const).map((role) => lockOwner(dataDir, role));
    const others = [...owners, findPostmaster(dataDirAt(dataDir).postgres)];
    return [...family, ...others.flatMap((one) => one ?? [])];
  });
}
