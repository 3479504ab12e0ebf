import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { EVENTS_RETENTION_DAYS_MAX } from '../../domain/rules/events-retention.ts';
import { decodeServerSecret } from '../../domain/secrets.ts';
import type { OperatorPages } from '../../infra/platform/operator-access.ts';
import type { PrivateTargets } from '../../infra/platform/private-targets.ts';
import { Fatal } from '../../schemas/failures.ts';
import {
  DISTRIBUTED_VARIABLES,
  type DistributedStores,
  readDistributedStores,
} from './distributed-stores-config.ts';
import { createEnvReader, type EnvReader } from './env-reader.ts';
import { OPERATOR_VARIABLES, readOperatorPages } from './operator-config.ts';
import { readTracing, TRACING_VARIABLES, type Tracing } from './tracing-config.ts';

/** The variables that are read, as text. One that is empty counts as left out. */
export type Env = Partial<Record<Variable, string>>;
export type Variable = (typeof VARIABLES)[number];

export const VARIABLES = [
  'HOST', //                     address of the public port; 127.0.0.1
  'PORT', //                     the public port; 8080; 0 takes a free one
  'DATA_DIR', //                 everything that is kept; ./data
  'LOG_LEVEL', //                of pino: trace, debug, info, warn, error, fatal; info
  'SEED_DEMO', //                the demo workspace of the first start: true, keys (without data) or false
  'WEBHOOK_ALLOW_PRIVATE', //    webhooks may go to http and private addresses: true, false or loopback
  'DATABASE_URL', //             a Postgres in place of the embedded one
  'CLICKHOUSE_URL', //           a ClickHouse server in place of the embedded one
  'WAREHOUSE_REBUILD', //        true: one that was lost is made again of what the log holds; false
  'CLICKHOUSE_CLUSTER', //       name of the cluster whose servers all hold the data; one server without it
  ...DISTRIBUTED_VARIABLES,
  ...OPERATOR_VARIABLES,
  ...TRACING_VARIABLES,
  'SERVER_SECRET', //            32 bytes in base64, root of the pepper and of the sealing key
  'DISK_FREE_BYTES_MIN', //      below it 503 and no loading; the larger of 1 GiB and 5 % of the disk
  'INFLIGHT_BYTES_MAX', //       request bodies held at once; beyond it 503; 64 MiB
  'CONNECTIONS_MAX', //          open connections on the public port; 10,000
  'EVENT_AGE_DAYS_MAX', //       an older occurredAt is rejected; 400
  'EVENT_AHEAD_MINUTES_MAX', //  an occurredAt further ahead is rejected; 5
  'LOG_RETENTION_DAYS', //       how long the log keeps what is settled; 7
  'LOG_SEGMENT_BYTES', //        of a file of the log, deleted as a whole; 64 MiB
  'EVENTS_RETENTION_DAYS', //    how long events and counters are kept, by their occurredAt; forever
  'RATE_LIMIT_PER_SECOND', //    requests of a secret key to the control plane; beyond it 429; no limit
  'RATE_LIMIT_BURST', //         how many of them at once after a pause; as many as in a second
  'LOAD_LINGER_MS', //           how long the aggregator collects under load before it inserts; 500
] as const;

/** `true`: with data; `keys`: the workspace alone. */
export type SeedDemo = 'true' | 'keys' | 'false';

export interface Config extends OperatorPages {
  host: string;
  port: number;
  /** Absent: requests leave no spans. */
  tracing?: Tracing;
  /** Absolute. */
  dataDir: string;
  logLevel: string;
  seedDemo: SeedDemo;
  webhookTargets: PrivateTargets;
  /** For one start: what is missing in the warehouse is put there again from the log. */
  warehouseRebuild: boolean;
  /** Absent: the embedded Postgres. */
  databaseUrl?: string;
  /** Absent: the embedded ClickHouse. */
  clickhouseUrl?: string;
  /** Absent: that URL is one server. */
  clickhouseCluster?: string;
  /** Of a control plane, or of a balancer before several; absent: the control side of this machine. */
  controlPlaneUrl?: string;
  storesWaitMs: number;
  /** Log and keys that several processes share; absent: those in DATA_DIR. */
  distributed?: DistributedStores;
  /** As given; absent: the one kept in DATA_DIR. */
  serverSecret?: string;
  /** Absent: the disk guard's own default. */
  diskFreeBytesMin?: number;
  ingest: {
    inFlightBytesMax: number;
    connectionsMax: number;
    eventAgeMsMax: number;
    eventAheadMsMax: number;
  };
  log: {
    keepMs: number;
    segmentBytesMax: number;
  };
  /** Absent: events are kept forever. */
  eventsRetentionDays: number | undefined;
  loadLingerMs: number;
  /** Of each secret key on the control plane; absent: none. */
  rateLimit?: { perSecond: number; burst: number };
}

const MEBIBYTE = 1024 * 1024;
const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** The flat record of this process's environment: nothing is judged yet. */
export function readEnv(source: NodeJS.ProcessEnv = process.env): Env {
  return Object.fromEntries(VARIABLES.flatMap((name) => (source[name] ? [[name, source[name].trim()]] : [])));
}

/** Groups and judges. Throws Fatal `bad_configuration` (exit 2) that names every faulty variable. */
export function toConfig(env: Env): Config {
  const read = createEnvReader(env);
  const host = read.matching('HOST', '127.0.0.1', isHost, 'an address or a host name');
  const port = read.integer('PORT', { fallback: 8080, min: 0, max: 65_535 });
  const config: Config = {
    host,
    port,
    ...readOperatorPages(read, { port, isHost }),
    dataDir: resolve(env.DATA_DIR ?? './data'),
    logLevel: read.matching('LOG_LEVEL', 'info', (text) => LOG_LEVELS.includes(text), LOG_LEVELS.join(', ')),
    seedDemo: readSeedDemo(read),
    webhookTargets: readWebhookTargets(read, host),
    warehouseRebuild: read.boolean('WAREHOUSE_REBUILD', false),
    ...readStores(env, read),
    ...present('diskFreeBytesMin', read.optionalInteger('DISK_FREE_BYTES_MIN', { min: 0, max: 2 ** 50 })),
    ingest: {
      inFlightBytesMax: read.integer('INFLIGHT_BYTES_MAX', {
        fallback: 64 * MEBIBYTE,
        min: 2 * MEBIBYTE,
        max: 1024 * MEBIBYTE,
      }),
      connectionsMax: read.integer('CONNECTIONS_MAX', { fallback: 10_000, min: 1, max: 1_000_000 }),
      eventAgeMsMax: DAY_MS * read.integer('EVENT_AGE_DAYS_MAX', { fallback: 400, min: 1, max: 36_500 }),
      eventAheadMsMax:
        MINUTE_MS * read.integer('EVENT_AHEAD_MINUTES_MAX', { fallback: 5, min: 0, max: 525_600 }),
    },
    log: {
      keepMs: DAY_MS * read.integer('LOG_RETENTION_DAYS', { fallback: 7, min: 0, max: 36_500 }),
      segmentBytesMax: read.integer('LOG_SEGMENT_BYTES', {
        fallback: 64 * MEBIBYTE,
        min: MEBIBYTE / 16,
        max: 1024 * MEBIBYTE,
      }),
    },
    eventsRetentionDays: read.optionalInteger('EVENTS_RETENTION_DAYS', {
      min: 1,
      max: EVENTS_RETENTION_DAYS_MAX,
    }),
    ...present('controlPlaneUrl', read.url('CONTROL_PLANE_URL', ['http:', 'https:'])),
    storesWaitMs: SECOND_MS * read.integer('STORES_WAIT_SECONDS', { fallback: 60, min: 0, max: 3_600 }),
    loadLingerMs: read.integer('LOAD_LINGER_MS', { fallback: 500, min: 0, max: 10_000 }),
    ...readRateLimit(env, read),
    ...present('tracing', readTracing(env, read)),
  };
  checkEventsRetention(config, read);
  const faults = read.faults();
  if (faults.length > 0) throw new Fatal('bad_configuration', `Bad configuration: ${faults.join('; ')}.`);
  return config;
}

/** For so long at least an event stays that was as old as one may be when it came. */
const STAY_DAYS_MIN = 32;

/** An event that is accepted and deleted with the next merge would be neither counted nor rejected. */
function checkEventsRetention({ eventsRetentionDays, ingest }: Config, read: EnvReader<Variable>): void {
  const daysMin = ingest.eventAgeMsMax / DAY_MS + STAY_DAYS_MIN;
  if (eventsRetentionDays === undefined || eventsRetentionDays >= daysMin) return;
  const why = `EVENT_AGE_DAYS_MAX and ${STAY_DAYS_MIN} more, so that what is still taken stays a while`;
  read.fault('EVENTS_RETENTION_DAYS', `has to be at least ${daysMin}: ${why}`);
}

const REQUESTS = { min: 1, max: 1_000_000 };

function readRateLimit(env: Env, read: EnvReader<Variable>): Pick<Config, 'rateLimit'> {
  const perSecond = read.optionalInteger('RATE_LIMIT_PER_SECOND', REQUESTS);
  const burst = read.optionalInteger('RATE_LIMIT_BURST', REQUESTS) ?? perSecond;
  if (env.RATE_LIMIT_BURST && !env.RATE_LIMIT_PER_SECOND) {
    read.fault('RATE_LIMIT_BURST', 'is of use with RATE_LIMIT_PER_SECOND only');
  }
  return perSecond === undefined || burst === undefined ? {} : { rateLimit: { perSecond, burst } };
}

type Stores = Pick<Config, 'databaseUrl' | 'clickhouseUrl' | 'clickhouseCluster' | 'serverSecret'>;

function readStores(env: Env, read: EnvReader<Variable>): Stores {
  if (env.KAFKA_BROKERS && !env.CLICKHOUSE_URL) {
    read.fault('CLICKHOUSE_URL', 'has to be set where KAFKA_BROKERS is: old events are looked up there');
  }
  if (env.DATABASE_URL && !env.SERVER_SECRET) {
    read.fault('SERVER_SECRET', 'has to be set where DATABASE_URL is: 32 bytes in base64');
  }
  for (const name of env.KAFKA_BROKERS ? (['DATABASE_URL', 'CLICKHOUSE_URL'] as const) : []) {
    if (!env[name]) read.fault(name, 'has to be set where KAFKA_BROKERS is');
  }
  const isSecret = (text: string) => decodeServerSecret(text) !== undefined;
  return {
    ...present('databaseUrl', read.url('DATABASE_URL', ['postgres:', 'postgresql:'])),
    ...present('clickhouseUrl', read.url('CLICKHOUSE_URL', ['http:', 'https:'])),
    ...present('clickhouseCluster', readCluster(env, read)),
    ...present('distributed', readDistributedStores(env, read)),
    ...present('serverSecret', read.optionalMatching('SERVER_SECRET', isSecret, '32 bytes in base64')),
  };
}

/** It becomes a part of statements. */
function readCluster(env: Env, read: EnvReader<Variable>): string | undefined {
  if (env.CLICKHOUSE_CLUSTER && !env.CLICKHOUSE_URL) {
    read.fault('CLICKHOUSE_CLUSTER', 'is of use with CLICKHOUSE_URL only');
  }
  const isName = (text: string) => /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(text);
  return read.optionalMatching(
    'CLICKHOUSE_CLUSTER',
    isName,
    'the name of a cluster: letters, digits, _ and -',
  );
}

function readSeedDemo(read: EnvReader<Variable>): SeedDemo {
  const known = (text: string) => ['true', 'keys', 'false'].includes(text);
  return read.matching('SEED_DEMO', 'true', known, 'true, keys or false') as SeedDemo;
}

/** `loopback` is for developing: where others reach the server, it means nothing private at all. */
function readWebhookTargets(read: EnvReader<Variable>, host: string): PrivateTargets {
  const known = (text: string) => ['true', 'false', 'loopback'].includes(text);
  const setting = read.matching('WEBHOOK_ALLOW_PRIVATE', 'loopback', known, 'true, false or loopback');
  if (setting === 'true') return 'all';
  return setting === 'loopback' && isLoopback(host) ? 'loopback' : 'none';
}

function isHost(text: string): boolean {
  return isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Leaves out a property without a value: exactOptionalPropertyTypes distinguishes absent and undefined. */
function present<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [name in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [name in Name]?: Value });
}
