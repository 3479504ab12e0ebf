import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client, DatabaseError } from 'pg';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';
import { poll } from '../platform/poll.ts';
import { identityOf, isLiving, type ProcessIdentity } from '../platform/process-identity.ts';
import { findPostgresBinaries } from './binaries.ts';
import { prepareCluster, SERVER_USER } from './cluster.ts';
import { clearLeftovers, findPostmaster, processesIn, stopPostmaster } from './postmaster.ts';
import { chooseServerAccount, launchAs, type ServerAccount } from './server-account.ts';

export interface EmbeddedPostgres {
  /** With the password in it: not for logs. The port is another one after each start. */
  readonly url: string;
  readonly pid: number;
  /** True when the server had outlived the process that started it. */
  readonly adopted: boolean;
  /** Fast shutdown, by force after 9 of 10 s. Also the way to be rid of one that was adopted. */
  stop(): Promise<void>;
  /** Called once when the server ends without `stop`; at once when it has ended already. */
  onExit(listener: () => void): void;
}

export interface EmbeddedPostgresOptions {
  /** The cluster's folder; the server's own log is `<directory>.log` next to it. */
  directory: string;
  log: Logger;
  /** Over {@link SERVER_SETTINGS}. */
  settings?: Record<string, string>;
  /** In place of {@link START_SILENCE_MS} and {@link ADOPT_SILENCE_MS}. */
  silenceMs?: number;
  /** Gives the start up: its server is ended, and the signal's reason thrown. */
  signal?: AbortSignal;
}

/** For a machine that is shared with the rest of Metergate. What is durable by default stays so. */
const SERVER_SETTINGS: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '80',
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  // No replicas follow an embedded server; the least WAL means the fewest writes in addition to the event
  // log's own.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '512MB',
  // Statements here are short: neither pays, and parallel workers want /dev/shm, which containers keep small.
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  io_method: 'sync',
  // A client that hangs in a transaction would hold its row locks forever.
  idle_in_transaction_session_timeout: '60s',
  // No DETAIL, HINT or CONTEXT: they hold what was in the row, and the log is no place for tenants' data.
  log_error_verbosity: 'terse',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

const LOG_BYTES_MAX = 8 * 1024 * 1024;
/** A server that neither takes connections nor reports that it is starting up for this long hangs. */
const START_SILENCE_MS = 120_000;
const ADOPT_SILENCE_MS = 30_000;
const LOGGED_EVERY_MS = 10_000;
/** A port may be taken between the look and the act, and shared memory may be released late. */
const START_ATTEMPTS = 5;
const WATCH_EVERY_MS = 200;

/**
 * Adopts the server that still runs on this folder, else starts one; makes the cluster first when there is
 * none. The server runs in a session of its own, so that the terminal's Ctrl-C reaches us alone and we
 * drain first. Throws Fatal, with what to do, when this machine cannot run it.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { directory, log } = options;
  const binaries = findPostgresBinaries();
  const account = chooseServerAccount(directory);
  const password = await prepareCluster(directory, binaries.initdb, account);
  const adopted = await adopt(options, password);
  if (adopted) {
    log.info({ postmaster: adopted.process.pid }, 'adopted the running Postgres');
    return serverHandle(adopted, true);
  }
  for (let attempt = 1; attempt <= START_ATTEMPTS; attempt += 1) {
    options.signal?.throwIfAborted();
    await clearLeftovers(directory);
    const started = await launch(binaries.postgres, options, { account, password });
    if (started) {
      log.info({ postmaster: started.process.pid, attempt }, 'started Postgres');
      return serverHandle(started, false);
    }
  }
  throw new Fatal('postgres_start_failed', `Postgres does not start; its own words are in ${directory}.log.`);
}

/**
 * Ends the server that runs on a folder, whichever process started it, by force when the time is over:
 * backends that hang do not notice that it has ended. Does nothing when there is none.
 */
export async function stopEmbeddedPostgres(directory: string, timeoutMs?: number): Promise<void> {
  const postmaster = findPostmaster(directory);
  if (!postmaster) return;
  const family = processesIn(directory);
  await stopPostmaster(postmaster, timeoutMs);
  // mutant: hanging-backends-left
  if (existsSync(join(directory, 'postmaster.pid'))) await clearLeftovers(directory, family);
}

interface RunningServer {
  process: ProcessIdentity;
  url: string;
}

async function adopt(options: EmbeddedPostgresOptions, password: string): Promise<RunningServer | undefined> {
  const found = findPostmaster(options.directory);
  if (!found) return undefined;
  const server = { process: found, url: urlOf(password, found.port) };
  if (await respondsWithin(server, options, ADOPT_SILENCE_MS)) return server;
  // Ours, and hanging or about to end: no other process can be using it.
  await stopPostmaster(found);
  return undefined;
}

async function launch(
  program: string,
  options: EmbeddedPostgresOptions,
  { account, password }: { account: ServerAccount; password: string },
): Promise<RunningServer | undefined> {
  const { directory, settings } = options;
  const port = await freePort();
  const all = { ...SERVER_SETTINGS, ...settings, port: String(port) };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const how = launchAs(account, [program, '-D', directory, ...flags], [directory]);
  const output = openServerLog(`${directory}.log`);
  // Our environment holds secrets; the server needs none of it.
  const child = spawn(how.command, how.args, {
    ...how.account,
    cwd: '/',
    detached: true,
    stdio: ['ignore', output, output],
    env: { LC_ALL: 'C' },
  });
  closeSync(output);
  child.on('error', () => undefined);
  child.unref();
  if (child.pid === undefined) return undefined;
  const server = { process: identityOf(child.pid), url: urlOf(password, port) };
  if (await respondsWithin(server, options, START_SILENCE_MS)) return server;
  await stopPostmaster(server.process);
  return undefined;
}

function serverHandle({ process, url }: RunningServer, adopted: boolean): EmbeddedPostgres {
  const listeners: Array<() => void> = [];
  let ended = false;
  // Polled, not waited for: an adopted server is not our child, and one way serves both.
  const watch = setInterval(() => {
    if (isLiving(process)) return;
    clearInterval(watch);
    ended = true;
    for (const listener of listeners) listener();
  }, WATCH_EVERY_MS).unref();
  return {
    url,
    pid: process.pid,
    adopted,
    stop: () => {
      clearInterval(watch);
      return stopPostmaster(process);
    },
    onExit: (listener) => {
      if (ended) listener();
      else listeners.push(listener);
    },
  };
}

function urlOf(password: string, port: number): string {
  return `postgres://${SERVER_USER}:${password}@127.0.0.1:${port}/postgres?sslmode=disable`;
}

/**
 * True once the server takes connections with our password; false when it ended, hangs, or is given up. Crash
 * recovery takes as long as the disk makes it: a restart would take as long again.
 */
async function respondsWithin(
  { process, url }: RunningServer,
  { log, silenceMs: given, signal }: EmbeddedPostgresOptions,
  usualMs: number,
): Promise<boolean> {
  const silenceMs = given ?? usualMs;
  let respondedAt = performance.now();
  let notifiedAt = respondedAt;
  const outcome = await poll(
    async () => {
      const rejection = await rejectionOf(url);
      if (rejection === undefined) return 'ready';
      const now = performance.now();
      if (isStartingUp(rejection)) respondedAt = now;
      if (signal?.aborted || !isLiving(process) || now - respondedAt >= silenceMs) return 'lost';
      if (now - notifiedAt < Math.min(LOGGED_EVERY_MS, silenceMs)) return undefined;
      notifiedAt = now;
      log.warn({ postmaster: process.pid, reason: rejection.message }, 'waiting for Postgres');
      return undefined;
    },
    { timeoutMs: Number.POSITIVE_INFINITY, everyMs: 50 },
  );
  return outcome === 'ready';
}

/** Undefined when it takes a connection. */
async function rejectionOf(url: string): Promise<Error | undefined> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return undefined;
  } catch (error) {
    return error as Error;
  } finally {
    // A server that hangs would keep us waiting for its goodbye.
    client.end().catch(() => undefined);
  }
}

/** Clusters are made in C. One that shuts down, or is a standby, fails with this code and another message. */
const STARTING_UP = /is starting up|in recovery mode|not yet accepting/;

function isStartingUp(error: Error): boolean {
  return error instanceof DatabaseError && error.code === '57P03' && STARTING_UP.test(error.message);
}

async function freePort(): Promise<number> {
  const probe = createServer();
  return new Promise((resolve, reject) => {
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

function openServerLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_BYTES_MAX) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}
