import type { Writable } from 'node:stream';
import { Redis, type RedisOptions } from 'iovalkey';
import type { Logger } from 'pino';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { CLAIM, CONFIRM, RELEASE } from './key-scripts.ts';
import type { ValkeySettings } from './valkey-settings.ts';

/** The connection and its commands. Everything throws Transient `keys_unavailable`. */
export interface ValkeyClient {
  /** The run id of the server: another one may have lost keys. */
  identity(): Promise<string>;
  policy(): Promise<string>;
  getAll(keys: string[]): Promise<Array<string | null>>;
  setAll(keys: string[], value: string): Promise<void>;
  claim(args: ScriptArgs): Promise<[outcomes: Buffer, times: Buffer]>;
  confirm(args: ScriptArgs): Promise<Buffer[]>;
  release(args: ScriptArgs): Promise<void>;
  close(): Promise<void>;
}

export type ScriptArgs = Array<string | number | Buffer>;

interface Scripts {
  claimKeysBuffer(...args: ScriptArgs): Promise<[Buffer, Buffer]>;
  confirmKeysBuffer(...args: ScriptArgs): Promise<Buffer[]>;
  releaseKeys(...args: ScriptArgs): Promise<number>;
}

const COMMAND_TIMEOUT_MS = 1_000;
/**
 * A connection on which nothing is received while a response is due is replaced: its other end may be down.
 */
const SILENT_MAX_MS = 2_000;
const RECONNECT_MS_MAX = 500;
const KEYS = 2;

const OPTIONS: RedisOptions = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  commandTimeout: COMMAND_TIMEOUT_MS,
  connectTimeout: COMMAND_TIMEOUT_MS,
  // mutant: silent-key-store-kept
  socketTimeout: SILENT_MAX_MS,
  // The error stays an error: `true` would send the command again.
  // mutant: replica-used-on
  reconnectOnError: ({ message }) => NO_PRIMARY.test(message),
  retryStrategy: (times) => Math.min(times * 50, RECONNECT_MS_MAX),
  scripts: {
    claimKeys: { lua: CLAIM, numberOfKeys: KEYS },
    confirmKeys: { lua: CONFIRM, numberOfKeys: KEYS },
    releaseKeys: { lua: RELEASE, numberOfKeys: KEYS },
  },
};

/**
 * Nothing is queued for an unavailable server, and nothing is sent twice: the caller must know the outcome.
 */
export function createValkeyClient(
  { url }: ValkeySettings,
  { log, onLost }: { log: Logger; onLost: () => void },
): ValkeyClient {
  const redis = new Redis(url, OPTIONS);
  // Why a connection fails is logged only here: a caller just gets that it is closed.
  let rejected: Error | undefined;
  redis.on('error', (err: Error & { code?: string }) => {
    rejected = REJECTED.test(err.message) || TLS_FAILED.test(err.code ?? '') ? err : undefined;
    log.debug({ err }, 'the key store is unavailable');
  });
  redis.on('close', onLost);
  const scripts = redis as unknown as Scripts;
  const together = createWriteBatcher(() => redis.stream);

  async function requested<T>(act: () => Promise<T>): Promise<T> {
    try {
      if (redis.status === 'wait') await redis.connect();
      return await act();
    } catch (cause) {
      throw failure(rejected ?? cause);
    }
  }

  return {
    identity: () =>
      requested(async () => {
        const info = `${await redis.info('server')}\n${await redis.info('replication')}`;
        if (fieldOf(info, 'role') === 'slave') {
          redis.disconnect(true);
          throw new Error('It is a replica: its name may lead to the primary soon.');
        }
        return `${fieldOf(info, 'run_id')} ${fieldOf(info, 'master_replid')}`;
      }),
    policy: () => requested(async () => fieldOf(await redis.info('memory'), 'maxmemory_policy')),
    getAll: (keys) => requested(() => Promise.all(keys.map((key) => redis.get(key)))),
    async setAll(keys, value) {
      await requested(() => Promise.all(keys.map((key) => redis.set(key, value))));
    },
    claim: (args) => requested(() => together(() => scripts.claimKeysBuffer(...args))),
    confirm: (args) => requested(() => together(() => scripts.confirmKeysBuffer(...args))),
    async release(args) {
      await requested(() => scripts.releaseKeys(...args));
    },
    async close() {
      redis.disconnect();
    },
  };
}

/**
 * Commands of one turn of the event loop, for several shards, are written to the system at once, and the
 * server reads them and responds together.
 */
function createWriteBatcher(streamNow: () => Writable | undefined) {
  let corked: Writable | undefined;
  return <T>(command: () => T): T => {
    const stream = streamNow();
    if (stream && stream !== corked) {
      corked = stream;
      stream.cork();
      setImmediate(() => {
        stream.uncork();
        if (corked === stream) corked = undefined;
      });
    }
    return command();
  };
}

function fieldOf(info: string, name: string): string {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
}

/**
 * Sent by a primary that has become a replica and keeps its connections, also from within a script. Temporary
 * errors (LOADING, CLUSTERDOWN, MISCONF, BUSY) are retried over the same connection.
 */
const NO_PRIMARY = /^(READONLY|MASTERDOWN) |-READONLY /;

const REJECTED = /^(WRONGPASS|NOAUTH|NOPERM)|invalid (username|password)|without any password/;

/** From Node: a certificate, or a server without TLS. It is in the cause, for a start that fails. */
const TLS_FAILED = /CERT|SIGNATURE|^ERR_TLS|^ERR_SSL/;

function failure(cause: unknown): Fatal | Transient {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (message.startsWith('EPOCH')) {
    return new Transient('key_store_changed', 'The key store is not the one it was.', { cause });
  }
  if (REJECTED.test(message)) {
    return new Fatal('bad_configuration', `Bad configuration: REDIS_URL is rejected: ${message}`, { cause });
  }
  return new Transient('keys_unavailable', 'The key store did not respond.', { cause });
}
