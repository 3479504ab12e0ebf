import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { idOf, RECORD_BYTES, TIMES_BYTES, timesByte } from '../../schemas/stored/record.ts';
import type { Clock } from '../ports/clock.ts';
import {
  CLAIM_STATE,
  type Claim,
  type DistributedBatch,
  type DistributedIdempotencyStore,
  OUTCOME,
} from '../ports/idempotency-store.ts';
import { FLAG } from './key-scripts.ts';
import { claimWindow } from './key-window.ts';
import { createStoreEpoch, type StoreEpoch } from './store-epoch.ts';
import { createValkeyClient, type ScriptArgs, type ValkeyClient } from './valkey-client.ts';
import type { ValkeySettings } from './valkey-settings.ts';

export interface ValkeyKeysOptions {
  settings: ValkeySettings;
  /** So far an event may lie ahead of its createdAt. */
  aheadMsMax: number;
  /** As many as the log has partitions. */
  shards: number;
  pool: Pool;
  clock: Clock;
  log: Logger;
  /** The prefix of all keys: several installations may share a server. */
  prefix?: string;
  /** After it another process may take over what was claimed. */
  leaseMs?: number;
}

/** Twice what a produce may take, and as much again for what comes before and after. */
const LEASE_MS = 15_000;
/** Clocks of several machines give the ages. */
const CLOCKS_APART_MS = 3_600_000;

/**
 * Opens the keys. Throws Fatal `bad_configuration` for a server that rejects us or evicts keys, or was used
 * with a shorter window, Transient `keys_unavailable` while it is unavailable.
 */
export async function openValkeyKeys(options: ValkeyKeysOptions): Promise<DistributedIdempotencyStore> {
  const { settings, shards, pool, clock, log, prefix = 'metergate' } = options;
  const { hotWindowMs: windowMs } = settings;
  // Until a replay is searched for in ClickHouse: that depends on occurredAt, and a key on createdAt.
  const claimKeepMs = async () => {
    const aheadMs = await claimWindow(pool, prefix, { windowMs, aheadMs: options.aheadMsMax });
    // mutant: keys-kept-for-the-window-alone
    return windowMs + aheadMs + CLOCKS_APART_MS;
  };
  let epoch: StoreEpoch | undefined;
  const client = createValkeyClient(settings, { log, onLost: () => epoch?.doubt() });
  const markKeys = Array.from({ length: shards }, (_, shard) => `${prefix}:{s${shard}}:birth`);
  try {
    await checkPolicy(client);
    const epochDeps = { client, pool, clock, log, name: prefix, markKeys };
    epoch = createStoreEpoch({ ...epochDeps, keepMs: await claimKeepMs() });
    await epoch.mark();
    // Again: a store without an epoch has no row to record the window in.
    const keepMs = await claimKeepMs();
    return createValkeyKeys({ client, epoch, prefix, leaseMs: options.leaseMs ?? LEASE_MS, keepMs });
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function checkPolicy(client: ValkeyClient): Promise<void> {
  const policy = await client.policy();
  if (policy === '' || policy === 'noeviction') return;
  throw new Fatal(
    'bad_configuration',
    `Bad configuration: the server of REDIS_URL has maxmemory-policy ${policy}, which forgets keys that ` +
      'are needed: set it to noeviction.',
  );
}

interface KeysParts {
  client: ValkeyClient;
  epoch: StoreEpoch;
  prefix: string;
  leaseMs: number;
  keepMs: number;
}

/** What is to be confirmed or released: the created records, one after the other. */
interface HeldClaim extends Claim {
  shard: number;
  owner: Buffer;
  records: Buffer;
  /** A byte per record: 1 where it was taken over. */
  takenOver: Buffer;
  /** Their numbers in the batch. */
  items: number[];
  batch: DistributedBatch;
}

function createValkeyKeys(parts: KeysParts): DistributedIdempotencyStore {
  const { client, epoch, prefix, leaseMs, keepMs } = parts;
  const newOwner = createOwners();

  /** With the epoch that the store had a short time ago: a script that finds another one does nothing. */
  async function run<T>(
    shard: number,
    args: ScriptArgs,
    script: (args: ScriptArgs) => Promise<T>,
  ): Promise<T> {
    const keys = [`${prefix}:{s${shard}}:birth`, `${prefix}:{s${shard}}:`];
    try {
      return await script([...keys, await epoch.mark(), ...args]);
    } catch (error) {
      if (!(error instanceof Transient) || error.code !== 'key_store_changed') throw error;
      epoch.doubt();
      return await script([...keys, await epoch.mark(), ...args]);
    }
  }

  async function claim(batch: DistributedBatch): Promise<HeldClaim> {
    const { shard = 0, count, records, readOnly } = batch;
    const owner = newOwner();
    const bytes = Buffer.from(records.buffer, records.byteOffset, count * RECORD_BYTES);
    const looks = Buffer.from(readOnly.buffer, readOnly.byteOffset, count);
    const response =
      count === 0
        ? ([Buffer.alloc(0), Buffer.alloc(0)] as const)
        : await run(shard, [owner, keepMs, leaseMs, bytes, looks], client.claim);
    return { ...takeIn(batch, bytes, response), shard, owner, batch };
  }

  async function confirm(held: HeldClaim): Promise<void> {
    if (held.created === 0) return;
    const lost = await run(held.shard, [held.owner, keepMs], client.confirm);
    // mutant: confirmed-by-key-alone
    if (lost.length > 0) giveUp(held, lost);
  }

  async function release({ shard, owner, created, records, takenOver }: HeldClaim): Promise<void> {
    if (created > 0) await run(shard, [owner, keepMs, records, takenOver], client.release);
  }

  return {
    claim,
    confirm: async (claims) => void (await Promise.all((claims as HeldClaim[]).map(confirm))),
    release: async (claims) => void (await Promise.all((claims as HeldClaim[]).map(release))),
    mayHaveLostKeys: epoch.mayHaveLostKeys,
    close: () => client.close(),
  };
}

/** Writes outcomes, claim states and times of the first event into the batch. */
function takeIn(
  batch: DistributedBatch,
  bytes: Buffer,
  [outcomes, times]: readonly [Buffer, Buffer],
): Pick<HeldClaim, 'created' | 'waits' | 'records' | 'takenOver' | 'items'> {
  const items: number[] = [];
  const takenOver: number[] = [];
  let waits = false;
  let timesAt = 0;
  for (let item = 0; item < batch.count; item++) {
    const bits = outcomes[item] ?? 0;
    const outcome = bits & FLAG.outcome;
    batch.outcomes[item] = outcome;
    waits ||= (bits & (FLAG.own | FLAG.pending)) !== 0;
    if (batch.claimStates) batch.claimStates[item] = claimStateOf(bits);
    const isTakenOver = (bits & FLAG.takenOver) !== 0;
    // mutant: taken-over-with-new-times
    if (outcome === OUTCOME.duplicate || isTakenOver) {
      times.copy(bytes, timesByte(item), timesAt, timesAt + TIMES_BYTES);
      timesAt += TIMES_BYTES;
    }
    if (outcome !== OUTCOME.created) continue;
    items.push(item);
    takenOver.push(isTakenOver ? 1 : 0);
  }
  const records = recordsOf(bytes, items);
  return { created: items.length, waits, records, takenOver: Buffer.from(takenOver), items };
}

function recordsOf(bytes: Buffer, items: number[]): Buffer {
  // Mostly all are new.
  if (items.length * RECORD_BYTES === bytes.length) return bytes;
  const records = Buffer.allocUnsafe(items.length * RECORD_BYTES);
  for (const [at, item] of items.entries()) {
    bytes.copy(records, at * RECORD_BYTES, item * RECORD_BYTES, (item + 1) * RECORD_BYTES);
  }
  return records;
}

/** An event that another claim has taken over belongs to that claim. */
function giveUp({ batch, items, records }: HeldClaim, ids: Buffer[]): void {
  const lost = new Set(ids.map((id) => id.toString('hex')));
  for (const [at, item] of items.entries()) {
    const id = Buffer.from(idOf(records, at)).toString('hex');
    if (lost.has(id)) batch.outcomes[item] = OUTCOME.duplicate;
  }
}

function claimStateOf(bits: number): number {
  return (
    (bits & FLAG.pending ? CLAIM_STATE.pending : 0) | (bits & FLAG.takenOver ? CLAIM_STATE.takenOver : 0)
  );
}

/** Each claim's own, so that a claim which was taken over cannot confirm the events of the other. */
function createOwners(): () => Buffer {
  const first = randomBytes(8);
  let next = first.readUInt32LE(4);
  return () => {
    const owner = Buffer.from(first);
    owner.writeUInt32LE(next, 4);
    next = (next + 1) >>> 0;
    return owner;
  };
}
