import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { dataDirAt } from '../../../infra/data-dir.ts';
import { poll } from '../../../infra/poll.ts';
import { stopEmbeddedPostgres } from '../../../infra/postgres/embedded.ts';
import { isAlive, signal } from '../../../infra/process-identity.ts';

/** A program of ours on a data folder that was there before it. */
export interface Release {
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with its origin, or with undefined when it ended instead. */
  ready(): Promise<string | undefined>;
  /** The exit code, or null after a kill. */
  readonly ended: Promise<number | null>;
  /** SIGKILL. False when that role does not run just now. */
  kill(role: 'supervisor' | 'control' | 'ingest'): boolean;
  stop(): Promise<number | null>;
  /** Ends by force whatever still runs on its data folder. */
  end(): Promise<void>;
}

/** From the project's root, as `npm start` runs it. */
export const THIS_RELEASE = join('infra', 'start.mjs');
const ALL_IN_ONE = join('dist', 'infra', 'all-in-one.js');
const READY = /^Metergate ready on (http:\/\/\S+)$/m;
const PATIENCE = { timeoutMs: 40_000, everyMs: 10 };

export function startRelease(program: string, env: Record<string, string>): Release {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, npm_lifecycle_event: '', HOST: '127.0.0.1', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const paths = dataDirAt(env.DATA_DIR ?? '');
  const [stdout, stderr] = [collect(child, 'stdout'), collect(child, 'stderr')];
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const pidOf = (role: string) => (role === 'supervisor' ? child.pid : lockOwner(paths.lock(role)));
  return {
    stdout,
    stderr,
    ended,
    async ready() {
      const look = () => READY.exec(stdout())?.[1] ?? (child.exitCode === null ? undefined : 'ended');
      const origin = await poll(look, PATIENCE);
      if (origin === undefined) throw new Error(`not ready: ${stderr()}`);
      return origin === 'ended' ? undefined : origin;
    },
    kill(role) {
      const pid = pidOf(role);
      return pid !== undefined && signal(pid, 'SIGKILL');
    },
    async stop() {
      child.kill('SIGTERM');
      return await ended;
    },
    async end() {
      child.kill('SIGKILL');
      await ended;
      const orphans = ['ingest', 'control'].flatMap((role) => pidOf(role) ?? []);
      for (const pid of orphans) signal(pid, 'SIGKILL');
      await poll(() => (orphans.some(isAlive) ? undefined : true), PATIENCE);
      await stopEmbeddedPostgres(paths.postgres);
    },
  };
}

function collect(child: ChildProcess, stream: 'stdout' | 'stderr'): () => string {
  let said = '';
  child[stream]?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return () => said;
}

function lockOwner(file: string): number | undefined {
  try {
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number };
    return isAlive(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}

export interface NextRelease {
  /** To be removed by whoever made it. */
  folder: string;
  program: string;
}

/** The release after this one: the same build, with one more migration of the warehouse. */
export function makeNextRelease(migration: string): NextRelease {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-release-'));
  cpSync('dist', join(folder, 'dist'), { recursive: true });
  cpSync('package.json', join(folder, 'package.json'));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const directory = join(folder, 'dist', 'infra', 'migrations', 'clickhouse');
  mkdirSync(directory, { recursive: true });
  const numbers = readdirSync(directory).flatMap((name) => /^(\d{4})_/.exec(name)?.[1] ?? []);
  const number = String(Math.max(...numbers.map(Number)) + 1).padStart(4, '0');
  cpSync(migration, join(directory, `${number}_changed_view.sql`));
  return { folder, program: join(folder, ALL_IN_ONE) };
}

/** What `npm run audit` prints, whatever it finds. */
export async function auditOf(dataDir: string): Promise<string> {
  const program = join('dist', 'aggregator', 'audit-command.js');
  return new Promise((done) => {
    const options = { env: { ...process.env, DATA_DIR: dataDir } };
    execFile(process.execPath, [program], options, (_error, stdout, stderr) => done(stdout + stderr));
  });
}
