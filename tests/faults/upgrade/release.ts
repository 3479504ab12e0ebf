import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { dataDirAt } from '../../../infra/platform/data-dir.ts';
import { poll } from '../../../infra/platform/poll.ts';
import { identityOf, type ProcessIdentity } from '../../../infra/platform/process-identity.ts';
import { stopEmbeddedPostgres } from '../../../infra/postgres/embedded.ts';
import { HOURLY_STATES } from '../../../schemas/stored/usage-hourly.ts';
import { inTime } from '../../support/in-time.ts';
import { endByForce, lockOwner } from '../../support/processes.ts';
import { changedHours } from './changed-view.ts';

export type Release = ReturnType<typeof startRelease>;

/** From the project's root, as `npm start` runs it. */
export const THIS_RELEASE = join('app', 'start.mjs');
const ALL_IN_ONE = join('dist', 'app', 'all-in-one.js');
const ROLE = /roles[/\\][\w-]+\.js$|control-side\.js$/;
const READY = /^Metergate ready on (http:\/\/\S+)$/m;
const DEFAULTS = { HOST: '127.0.0.1', PORT: '0', SEED_DEMO: 'keys' };
const PATIENCE = { timeoutMs: 40_000 };

/** A program of ours on a data folder that was there before it. */
export function startRelease(program: string, env: Record<string, string>) {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, npm_lifecycle_event: '', ...DEFAULTS, ...env },
    // The channel of a supervisor: without one a role takes itself for a second process.
    stdio: ['ignore', 'pipe', 'pipe', ...(ROLE.test(program) ? (['ipc'] as const) : [])],
  });
  const dataDir = env.DATA_DIR ?? '';
  const [stdout, stderr] = [collect(child, 'stdout'), collect(child, 'stderr')];
  const closed = once(child, 'close').then(([code]) => code as number | null);
  closed.catch(() => undefined); // reported by `ended`
  const ended = () => inTime(closed, PATIENCE.timeoutMs, `the end of ${program}`);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    stdout,
    stderr,
    hasEnded,
    /** The exit code, or null after a kill, once all its processes have closed its output. */
    ended,
    /** Resolves with its origin, or with undefined when it ended instead. */
    async ready(): Promise<string | undefined> {
      const look = () => READY.exec(stdout())?.[1] ?? (hasEnded() ? 'ended' : undefined);
      const origin = await poll(look, { ...PATIENCE, everyMs: 10 });
      if (origin === undefined) throw new Error(`not ready: ${stderr()}`);
      return origin === 'ended' ? undefined : origin;
    },
    /** SIGKILL. Resolves when that process is gone, with false when that role does not run just now. */
    async kill(role: 'supervisor' | 'control' | 'ingest'): Promise<boolean> {
      const target = role === 'supervisor' ? livingOf(child) : lockOwner(dataDir, role);
      if (target) await endByForce(() => [target]);
      return target !== undefined;
    },
    async stop(): Promise<number | null> {
      child.kill('SIGTERM');
      return await ended();
    },
    /** Ends by force whatever still runs on its data folder. */
    async end(): Promise<void> {
      child.kill('SIGKILL');
      await endByForce(() =>
        (['ingest', 'control'] as const).flatMap((role) => lockOwner(dataDir, role) ?? []),
      );
      await ended();
      await stopEmbeddedPostgres(dataDirAt(dataDir).postgres);
    },
  };
}

function livingOf({ pid, exitCode, signalCode }: ChildProcess): ProcessIdentity | undefined {
  return pid === undefined || exitCode !== null || signalCode !== null ? undefined : identityOf(pid);
}

function collect(child: ChildProcess, stream: 'stdout' | 'stderr'): () => string {
  let output = '';
  child[stream]?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  return () => output;
}

export interface NextRelease {
  /** The caller removes it. */
  folder: string;
  program: string;
}

/** The release after this one: the same build, with a migration of the warehouse that changes a view. */
export function makeNextRelease(): NextRelease {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-release-'));
  try {
    // Each module by itself: with a mutant, this release runs with it, too.
    cpSync('dist-tests', join(folder, 'dist'), { recursive: true });
    cpSync('package.json', join(folder, 'package.json'));
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    const directory = join(folder, 'dist', 'infra', 'migrations', 'clickhouse');
    const numbers = readdirSync(directory).flatMap((name) => /^(\d{4})_/.exec(name)?.[1] ?? []);
    const number = String(Math.max(...numbers.map(Number)) + 1).padStart(4, '0');
    writeFileSync(join(directory, `${number}_changed_view.sql`), changedHours(Object.values(HOURLY_STATES)));
    return { folder, program: join(folder, ALL_IN_ONE) };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}
