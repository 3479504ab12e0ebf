import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { stampLastUsed } from './store/stamp-last-used.ts';

/** Stamps when a key was used last, after the response and for many keys at once. */
export interface LastUsedStamp {
  /** Costs a write to a map. */
  saw(keyId: string, atMs: number): void;
  /** Writes what is left, where Postgres takes it at once. */
  close(): Promise<void>;
}

export interface LastUsedOptions {
  everyMs?: number;
  keysMax?: number;
}

const EVERY_MS = 30_000;
/** Of one interval. A further key is not stamped before the next one: its stamp is older than it could be. */
const KEYS_MAX = 10_000;
/** Of the few seconds that a stop may take: a stamp is not worth more. */
const CLOSE_MS = 1_000;

export function createLastUsedStamp(
  pool: Pool,
  log: Logger,
  { everyMs = EVERY_MS, keysMax = KEYS_MAX }: LastUsedOptions = {},
): LastUsedStamp {
  const seen = new Map<string, number>();
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    const used = [...seen];
    if (used.length === 0) return;
    try {
      await stampLastUsed(pool, used);
      for (const [id, atMs] of used) if (seen.get(id) === atMs) seen.delete(id);
    } catch (err) {
      log.debug({ err }, 'cannot stamp when keys were used last'); // the next interval tries again
    }
  }

  /** One at a time: a Postgres that hangs holds up one connection. */
  function flush(): Promise<void> {
    writing ??= write().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  const timer = setInterval(() => void flush(), everyMs).unref();
  return {
    saw(keyId, atMs) {
      if (seen.size < keysMax || seen.has(keyId)) seen.set(keyId, atMs);
    },
    async close() {
      clearInterval(timer);
      const written = Promise.resolve(writing).then(flush);
      await Promise.race([written, delay(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}
