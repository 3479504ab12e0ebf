import { Redis } from 'iovalkey';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CLAIM_STATE, type DistributedIdempotencyStore, OUTCOME } from '../ports/idempotency-store.ts';
import { type KeysUnderTest, openKeysUnderTest } from './keys-under-test.ts';

const HOUR_MS = 3_600_000;
/** Of clocks that are apart: an hour more than window and ahead. */
const KEPT_MS = 2 * HOUR_MS;

async function openKeys(aheadMsMax = 0) {
  const installation = await openKeysUnderTest();
  const { url } = installation;
  const keys = await installation.open({ settings: { url, hotWindowMs: HOUR_MS }, aheadMsMax });
  const redis = new Redis(url);
  onTestFinished(() => redis.disconnect());
  return { ...installation, keys, redis };
}

interface Requested {
  /** The last byte of its id; ids differ in nothing else. */
  id?: number;
  agoMs?: number;
  fingerprint?: number;
  isReadOnly?: boolean;
}

/** Claims one key, created so long ago, and leaves it at that. */
async function claim(keys: DistributedIdempotencyStore, requested: Requested) {
  const { id = 1, agoMs = 0, fingerprint = 7, isReadOnly = false } = requested;
  const records = new Uint32Array(10).fill(fingerprint, 4, 6);
  new Uint8Array(records.buffer)[15] = id;
  const atMs = Date.now() - agoMs;
  const times = new Float64Array(records.buffer);
  times.set([atMs, atMs], 3);
  const given = { records, readOnly: Uint8Array.of(isReadOnly ? 1 : 0) };
  const batch = { ...given, count: 1, outcomes: new Uint8Array(1), claimStates: new Uint8Array(1) };
  const claimed = await keys.claim(batch);
  return {
    claimed,
    atMs,
    outcome: batch.outcomes[0],
    claimState: batch.claimStates[0],
    createdAtMs: times[4],
  };
}

async function confirm(keys: DistributedIdempotencyStore, requested: Requested): Promise<void> {
  await keys.confirm([(await claim(keys, requested)).claimed], 1);
}

async function leaseKeys({ redis, prefix }: KeysUnderTest & { redis: Redis }): Promise<Buffer[]> {
  return await redis.keysBuffer(`${prefix}:{s0}:r*`);
}

/** For so long what was lost is missed. */
async function doubtfulHours({ pool, prefix }: Pick<KeysUnderTest, 'pool' | 'prefix'>): Promise<number> {
  const { rows } = await pool.query(
    'SELECT extract(epoch FROM young_until - now()) / 3600 AS hours FROM key_stores WHERE name = $1',
    [prefix],
  );
  return Number(rows[0].hours);
}

// Red when a claim without a lease is durable however old it is: what never came to the log would be lost.
test('a key older than keys are kept is a new event, flagged, whatever became of its claim', async () => {
  const { keys, ...opened } = await openKeys();
  await claim(keys, { agoMs: KEPT_MS + HOUR_MS });
  for (const key of await leaseKeys(opened)) await opened.redis.del(key);
  expect(await claim(keys, { isReadOnly: true })).toMatchObject({ outcome: OUTCOME.absent });
  expect(await claim(keys, { fingerprint: 8 })).toMatchObject({ outcome: OUTCOME.reused });
  const { outcome, claimState, atMs, createdAtMs } = await claim(keys, {});
  expect({ outcome, claimState }).toEqual({ outcome: OUTCOME.created, claimState: CLAIM_STATE.takenOver });
  expect(createdAtMs).toBe(atMs);
});

// Red when a lease is kept as long as its key, by another clock: the key is durable in between.
test('what is known of a claim outlasts its key', async () => {
  const { keys, ...opened } = await openKeys();
  const { claimed } = await claim(keys, {});
  const keptMs = async () => {
    const [key = Buffer.alloc(0)] = await leaseKeys(opened);
    return await opened.redis.pttl(key);
  };
  expect(await keptMs()).toBeGreaterThan(KEPT_MS + HOUR_MS);
  await keys.release([claimed]);
  expect(await leaseKeys(opened)).toEqual([]);
});

// Red when such a lease is trusted: its keys stay pending, and get a 503, for 40 days.
test('a claim that was left while the clock was ahead is pending for no longer than a lease', async () => {
  const { open, url, redis, ...opened } = await openKeys();
  const keys = await open({ settings: { url, hotWindowMs: HOUR_MS }, leaseMs: 500 });
  await claim(keys, {});
  const [key = Buffer.alloc(0)] = await leaseKeys({ redis, url, open, ...opened });
  await redis.set(key, String(Date.now() + 40 * 24 * HOUR_MS));
  expect(await claim(keys, {})).toMatchObject({
    outcome: OUTCOME.duplicate,
    claimState: CLAIM_STATE.pending,
  });
  expect(Number(await redis.get(key))).toBeLessThan(Date.now() + HOUR_MS);
  const taken = { outcome: OUTCOME.created, claimState: CLAIM_STATE.takenOver };
  await vi.waitFor(async () => expect(await claim(keys, {})).toMatchObject(taken), { timeout: 20_000 });
});

// Red when the lease is written last: a claim without one counts as durable, and a retry gets `duplicate`.
test('a claim that fails midway leaves nothing that counts as durable', async () => {
  const { keys, prefix, redis } = await openKeys();
  const records = new Uint32Array(20).fill(7, 4, 6);
  const bytes = new Uint8Array(records.buffer);
  bytes[15] = 1;
  bytes.fill(0x41, 40, 42);
  new Float64Array(records.buffer).set([Date.now(), Date.now()], 3);
  // In the place of the second one is something else.
  await redis.set(`${prefix}:{s0}:AA`, 'no hash');
  const [readOnly, outcomes, claimStates] = [new Uint8Array(2), new Uint8Array(2), new Uint8Array(2)];
  const batch = { records, readOnly, count: 2, outcomes, claimStates };
  await expect(Promise.resolve(keys.claim(batch))).rejects.toThrow();
  expect(await claim(keys, {})).toMatchObject({
    outcome: OUTCOME.duplicate,
    claimState: CLAIM_STATE.pending,
  });
});

// Red when keys expire by the window alone: a replay that is not searched for yet would be a second event.
test('a key is kept for as long as its event may lie ahead, and for the window behind that', async () => {
  const { keys, redis, ...opened } = await openKeys(2 * HOUR_MS);
  const known = { id: 1, agoMs: KEPT_MS + HOUR_MS };
  await confirm(keys, known);
  // It looks through the hash that contains both.
  await confirm(keys, { id: 64 });
  expect(await claim(keys, known)).toMatchObject({ outcome: OUTCOME.duplicate });
  // And so long keys that were lost are missed.
  await redis.del(`${opened.prefix}:{s0}:birth`);
  await confirm(keys, { id: 2 });
  expect(await doubtfulHours(opened)).toBeGreaterThan(3.9);
});

// Red when keys expire by what is set now: the replay of an event that lay far ahead would be a second event.
test('a key is kept for as long as events ever could lie ahead, though they may no longer', async () => {
  const { keys, open, redis, ...opened } = await openKeys(20 * HOUR_MS);
  const known = { id: 1, agoMs: 10 * HOUR_MS };
  await confirm(keys, known);
  const lowered = await open({ settings: { url: opened.url, hotWindowMs: HOUR_MS } });
  await confirm(lowered, { id: 64 });
  expect(await claim(lowered, known)).toMatchObject({ outcome: OUTCOME.duplicate });
  await redis.del(`${opened.prefix}:{s0}:birth`);
  await confirm(lowered, { id: 2 });
  expect(await doubtfulHours(opened)).toBeGreaterThan(21.9);
});

// Red when it is opened all the same: what was swept under the shorter window is counted a second time.
test('a window longer than the store was used with is rejected, a shorter one is not', async () => {
  const { open, url } = await openKeys();
  const reopen = (hours: number) => open({ settings: { url, hotWindowMs: hours * HOUR_MS } });
  await expect(reopen(2)).rejects.toMatchObject({
    code: 'bad_configuration',
    message: expect.stringMatching(/HOT_WINDOW_HOURS is 2, .* used with 1:/),
  });
  await reopen(1);
  await reopen(0.5);
  await expect(reopen(1)).rejects.toThrow('used with 0.5:');
});

// Red when it ends the process: at an upgrade the others may have to begin first.
test('a database that is not migrated yet is waited for', async () => {
  const { open, pool } = await openKeys();
  await pool.query('ALTER TABLE key_stores RENAME COLUMN ahead_ms TO later');
  await expect(open()).rejects.toMatchObject({ name: 'Transient', code: 'database_unavailable' });
});
