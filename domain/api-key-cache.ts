import { type CircuitBreaker, createCircuitBreaker, inTime } from '../infra/platform/circuit-breaker.ts';
import type { Clock } from '../infra/ports/clock.ts';
import type { Rejection } from '../schemas/error-codes.ts';
import { Transient } from '../schemas/failures.ts';
import type { Invalidation } from '../schemas/stored/channels.ts';
import { parseApiKey } from './rules/api-key.ts';
import { KEY_REJECTIONS } from './rules/key-rejections.ts';

/** A key as the store knows it. */
export interface StoredKey {
  id: string;
  environment: string;
  kind: 'secret' | 'publishable';
  scopes: string[];
  expiresAtMs: number | undefined;
  revoked: boolean;
}

export interface KeyCacheDeps {
  /** Queries one key. Undefined when it does not exist; throws Transient while Postgres is unavailable. */
  load(text: string): Promise<StoredKey | undefined>;
  /** False for a text that cannot name a key: it is not queried. Default: by the checksum of an API key. */
  mayName?(text: string): boolean;
  clock: Clock;
}

export interface KeyCache {
  /** The key, or why it is rejected. At once from the cache for a recent key; throws Transient. */
  authenticate(text: string): StoredKey | Rejection | Promise<StoredKey | Rejection>;
  /** The same of one that was looked up in the last seconds and is good; for anything else authenticate. */
  known(text: string): StoredKey | undefined;
  forget(change: Invalidation): void;
  clear(): void;
}

interface Entry {
  key: StoredKey;
  checkedAtMs: number;
  /** While this query runs, no second one starts. */
  checking: Promise<StoredKey | undefined> | undefined;
  /** After a failed query the next one waits until this time: a hanging Postgres delays few requests. */
  retryAtMs: number;
}

/** When a query began: its result may miss later changes. */
interface Time {
  generation: number;
  atMs: number;
}

const ENTRIES_MAX = 10_000;
/** NOTIFY brings a revocation; the repeated check is the safety net and keeps the promise of 10 s. */
const RECHECK_AFTER_MS = 5_000;
const STALE_AFTER_MS = 9_000;
/** While Postgres is unavailable, a key that was good stays good this long. */
const OUTAGE_MS_MAX = 600_000;
const RETRY_AFTER_MS = 1_000;
/** A Postgres that hangs fails after 12 s: a request with a key that was good does not wait for that. */
const RECHECK_PATIENCE_MS = 300;

export function createKeyCache({ load, mayName = isApiKey, clock }: KeyCacheDeps): KeyCache {
  const cache = createCache(clock);
  const firstLoads = createFirstLoads(load, cache, createCircuitBreaker(clock));
  const judge = (key: StoredKey) => judgeNow(key, clock);
  const judged = (key: StoredKey | undefined) => (key ? judge(key) : KEY_REJECTIONS.unknown);
  const firstLoad = async (text: string) => judged(await firstLoads.load(text));

  function recheck(text: string, entry: Entry): Promise<StoredKey | undefined> {
    const requested = cache.time();
    entry.checking ??= load(text)
      .then((key) => cache.learn(text, key, requested))
      .catch((error: unknown) => {
        entry.retryAtMs = clock.monotonicMs() + RETRY_AFTER_MS;
        entry.checking = undefined;
        throw error;
      });
    return entry.checking;
  }

  async function rechecked(text: string, entry: Entry): Promise<StoredKey | Rejection> {
    try {
      // mutant: lookup-without-timeout
      return judged(await inTime(recheck(text, entry), RECHECK_PATIENCE_MS));
    } catch (error) {
      entry.retryAtMs = clock.monotonicMs() + RETRY_AFTER_MS;
      const age = clock.monotonicMs() - entry.checkedAtMs;
      // mutant: known-keys-not-kept
      if (!(error instanceof Transient) || age > OUTAGE_MS_MAX) throw error;
      return judge(entry.key);
    }
  }

  const clear = (): void => {
    cache.clear();
    firstLoads.clear();
  };

  return {
    authenticate(text) {
      const entry = cache.find(text);
      if (!entry) return mayName(text) ? firstLoad(text) : KEY_REJECTIONS.unknown;
      const now = clock.monotonicMs();
      const age = now - entry.checkedAtMs;
      // mutant: key-never-looked-up-again
      if (age < RECHECK_AFTER_MS) return judge(entry.key);
      const waiting = now < entry.retryAtMs;
      if (age > OUTAGE_MS_MAX && waiting)
        throw new Transient('keys_unavailable', 'Keys cannot be looked up.');
      if (age < STALE_AFTER_MS || waiting) {
        if (!waiting) recheck(text, entry).catch(() => undefined); // its failure is in retryAtMs
        return judge(entry.key);
      }
      return rechecked(text, entry);
    },
    known: (text) => goodKey(cache.find(text), clock),
    forget({ kind }) {
      if (kind === 'key') clear(); // keys change rarely: clearing the whole cache is the simplest way
    },
    clear,
  };
}

function isApiKey(text: string): boolean {
  return parseApiKey(text) !== undefined;
}

function judgeNow(key: StoredKey, clock: Clock): StoredKey | Rejection {
  // mutant: revoked-key-taken
  if (key.revoked) return KEY_REJECTIONS.revoked;
  return key.expiresAtMs !== undefined && key.expiresAtMs <= clock.nowMs() ? KEY_REJECTIONS.expired : key;
}

/** The cached key, when neither a query nor a rejection is needed. */
function goodKey(entry: Entry | undefined, clock: Clock): StoredKey | undefined {
  if (!entry || clock.monotonicMs() - entry.checkedAtMs >= RECHECK_AFTER_MS) return undefined;
  const found = judgeNow(entry.key, clock);
  return 'code' in found ? undefined : found;
}

type Cache = ReturnType<typeof createCache>;

/** Cached keys. The result of a query that began before the last invalidation is used once, but not kept. */
function createCache(clock: Clock) {
  const entries = new Map<string, Entry>();
  let generation = 0;
  return {
    find: (text: string) => entries.get(text),
    time: (): Time => ({ generation, atMs: clock.monotonicMs() }),
    learn(text: string, key: StoredKey | undefined, requested: Time): StoredKey | undefined {
      if (!key) entries.delete(text);
      if (!key || requested.generation !== generation) return key;
      if (entries.size >= ENTRIES_MAX) entries.delete(entries.keys().next().value ?? '');
      entries.set(text, { key, checkedAtMs: requested.atMs, checking: undefined, retryAtMs: 0 });
      return key;
    },
    clear(): void {
      generation++;
      entries.clear();
    },
  };
}

/**
 * Single-flight: one query at a time for each new key. A request after an invalidation starts a new query.
 */
function createFirstLoads(load: KeyCacheDeps['load'], cache: Cache, breaker: CircuitBreaker) {
  const loads = new Map<string, Promise<StoredKey | undefined>>();

  function start(text: string): Promise<StoredKey | undefined> {
    const requested = cache.time();
    const loading = load(text)
      .then((key) => cache.learn(text, key, requested))
      .finally(() => {
        if (loads.get(text) === loading) loads.delete(text);
      });
    loads.set(text, loading);
    return loading;
  }

  return {
    load: (text: string) => breaker(() => loads.get(text) ?? start(text)),
    clear: () => loads.clear(),
  };
}
