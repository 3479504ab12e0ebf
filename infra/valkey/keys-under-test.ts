import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { sharedRedis } from '../../tests/servers/shared-url.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testPool } from '../../tests/support/test-pool.ts';
import { type Clock, systemClock } from '../ports/clock.ts';
import type { DistributedIdempotencyStore } from '../ports/idempotency-store.ts';
import { openValkeyKeys, type ValkeyKeysOptions } from './valkey-keys.ts';

export type KeysUnderTest = Awaited<ReturnType<typeof openKeysUnderTest>>;

/** Longer than since 1970: the times of tests are small numbers, and keys of such an age would be swept. */
const WINDOW_MS = 1e13;

/** Keys of one installation, under a prefix of its own: any number of processes open them. */
export async function openKeysUnderTest(given?: { url: string }, clock: Clock = systemClock) {
  const url = given?.url ?? (await sharedRedis());
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const pool = await testPool();
  const settings = { url, hotWindowMs: WINDOW_MS };
  return {
    pool,
    prefix,
    url,
    async open(options: Partial<ValkeyKeysOptions> = {}): Promise<DistributedIdempotencyStore> {
      const given = { settings, aheadMsMax: 0, shards: 2, pool, clock, log: SILENT, prefix, ...options };
      const keys = await openValkeyKeys(given);
      onTestFinished(() => keys.close());
      return keys;
    },
  };
}

/** Claims and confirms one key; gives its outcome. */
export async function useKey(keys: DistributedIdempotencyStore, id: number): Promise<number | undefined> {
  const records = new Uint32Array(10).fill(id);
  new Float64Array(records.buffer).set([Date.now(), Date.now()], 3);
  const batch = { count: 1, records, readOnly: new Uint8Array(1), outcomes: new Uint8Array(1) };
  await keys.confirm([await keys.claim(batch)], 1);
  return batch.outcomes[0];
}
