/** What `npm start` runs: the supervisor over the two processes of an installation on one machine. */
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { type DataDir, prepareDataDir } from '../infra/platform/data-dir.ts';
import { exitCodeOf } from '../infra/platform/exit-code.ts';
import { createLogger } from '../infra/platform/logger.ts';
import { checkOpenFilesLimit } from '../infra/platform/open-files-limit.ts';
import { ignoreOutputErrors } from '../infra/platform/output-errors.ts';
import { isLiving, type ProcessIdentity } from '../infra/platform/process-identity.ts';
import { acquireLock } from '../infra/platform/process-lock.ts';
import { publicUrl } from '../infra/platform/public-url.ts';
import { onStopSignals } from '../infra/platform/stop-signals.ts';
import { stopEmbeddedPostgres } from '../infra/postgres/embedded.ts';
import { type Config, readEnv, toConfig } from './config/config.ts';
import { npmProcess } from './npm-process.ts';
import type { ReadyMessage } from './roles/role-process.ts';
import type { ChildSpec } from './supervised-child.ts';
import { startSupervisor } from './supervisor.ts';

/** Together under the 15 s that a stop may take, with a second for Postgres where it was left behind. */
const CHILDREN: ChildSpec[] = [
  {
    name: 'ingest',
    program: siblingModule('./roles/ingest'),
    // The objects of requests in flight outlive 16 MB of young heap and are copied over and over: with 64 MB
    // 170,000 events/s instead of 130,000, for 60 MB of memory. With the usual first size of the old heap all
    // of it is collected four times a second under batches, since buffers outside of the heap count in it.
    nodeOptions: ['--max-semi-space-size=64', '--initial-old-space-size=128'],
    stopTimeoutMs: 7_000,
  },
  {
    name: 'control',
    program: siblingModule('./control-side'),
    // A statement of chdb blocks a thread of libuv's pool; three connections would leave one of the usual
    // four.
    env: { UV_THREADPOOL_SIZE: '8' },
    stopTimeoutMs: 7_000,
  },
];
const KEEPER_EVERY_MS = 500;
/**
 * Of the 15 s that a stop may take, for the children and then a Postgres that was left behind: a Postgres
 * that hangs takes the control side's whole time and then has to be killed.
 */
const STOP_MS = 12_000;
const LEFT_POSTGRES_MS = { least: 1_000, most: 10_000 };

const WEBHOOKS_GO = {
  all: 'WEBHOOK_ALLOW_PRIVATE: webhooks may go to http and to private addresses',
  loopback: 'HOST is a loopback address: webhooks of test mode may go to http on loopback addresses',
};

ignoreOutputErrors();
try {
  process.exitCode = await runAllInOne(toConfig(readEnv()));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = exitCodeOf(error);
}

async function runAllInOne(config: Config): Promise<number> {
  const log = createLogger({ role: 'supervisor', level: config.logLevel });
  checkOpenFilesLimit(config.ingest.connectionsMax, log);
  const paths = prepareDataDir(config.dataDir);
  const keeper = npmProcess();
  const release = await acquireLock(paths.lock('data-dir'), keeper);
  const stopping = createStopClock();
  try {
    if (config.webhookTargets !== 'none') log.info(WEBHOOKS_GO[config.webhookTargets]);
    return await supervise(config, log, { keeper, stopping });
  } finally {
    await stopLeftPostgres(paths, log, stopping.leftMs());
    release();
  }
}

interface StopClock {
  /** False when it had begun before. */
  begin(): boolean;
  leftMs(): number;
}

/** How much of a stop's time is left, since it began. */
function createStopClock(): StopClock {
  let beganAt: number | undefined;
  return {
    begin() {
      const isFirst = beganAt === undefined;
      beganAt ??= performance.now();
      return isFirst;
    },
    leftMs: () => STOP_MS - (performance.now() - (beganAt ?? performance.now())),
  };
}

interface SupervisedBy {
  keeper: ProcessIdentity | undefined;
  stopping: Pick<StopClock, 'begin'>;
}

async function supervise(config: Config, log: Logger, { keeper, stopping }: SupervisedBy): Promise<number> {
  const supervisor = startSupervisor({
    children: CHILDREN,
    log,
    onReady: (messages) => process.stdout.write(readyLines(servedUrl(config, messages), config)),
  });
  const stop = (reason: string): void => {
    if (stopping.begin()) log.info({ reason }, 'stops');
    supervisor.stop();
  };
  onStopSignals(stop, supervisor.force);
  const watch = setInterval(() => {
    if (keeper && !isLiving(keeper)) stop('the npm that ran it has ended');
  }, KEEPER_EVERY_MS);
  const exitCode = await supervisor.done;
  clearInterval(watch);
  return exitCode;
}

/** The control side stops its own Postgres. When it was killed before it could, only this does. */
async function stopLeftPostgres({ postgres }: DataDir, log: Logger, leftMs: number): Promise<void> {
  const { least, most } = LEFT_POSTGRES_MS;
  try {
    if (existsSync(postgres)) await stopEmbeddedPostgres(postgres, Math.max(least, Math.min(most, leftMs)));
  } catch (err) {
    log.error({ err }, 'Postgres could not be stopped');
  }
}

/** For people: what to open in a browser. */
function readyLines(url: string, { seedDemo }: Config): string {
  const pages = [`  console  ${url}/console`];
  if (seedDemo === 'true') pages.push(`  pricing page of the demo  ${url}/demo/pricing`);
  return `Metergate ready on ${url}\n${pages.join('\n')}\n`;
}

/** PORT may be 0; the data plane reports which one it took. */
function servedUrl({ host, port }: Config, messages: ReadonlyMap<string, ReadyMessage>): string {
  return publicUrl({ host, port: messages.get('ingest')?.port ?? port });
}

/** Compiled the modules end in .js, straight from the sources in .ts. */
function siblingModule(path: string): string {
  return fileURLToPath(new URL(`${path}${extname(import.meta.url)}`, import.meta.url));
}
