import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { Transient } from '../../schemas/failures.ts';
import type { Clock } from '../ports/clock.ts';
import { throwTransient } from '../postgres/unavailable.ts';
import type { ValkeyClient } from './valkey-client.ts';

/**
 * Detects that the key store is no longer the same one. A restart, a fail-over, a restore or a wipe may have
 * lost keys, and the store itself cannot tell which: from then on, for as long as keys are kept, everything
 * that is claimed is searched for in ClickHouse before it is counted.
 */
export interface StoreEpoch {
  /**
   * The epoch without which a script does nothing. Reads it first, unless that was done on this connection.
   * Throws Transient while the store or Postgres is unavailable.
   */
  mark(): Promise<string>;
  mayHaveLostKeys(): boolean;
  /** The connection was lost, or a script has found another mark. */
  doubt(): void;
}

export interface EpochDeps {
  client: ValkeyClient;
  pool: Pool;
  clock: Clock;
  log: Logger;
  /** Names the store in Postgres. */
  name: string;
  /** A mark in each shard. */
  markKeys: string[];
  /** So long a key is kept, and may be missed. */
  keepMs: number;
}

interface EpochRow {
  epoch: string;
  runId: string;
  mayHaveLostKeysMs: number;
}

const TRIES_MAX = 5;

export function createStoreEpoch(deps: EpochDeps): StoreEpoch {
  const { clock } = deps;
  let known: { epoch: string; mayHaveLostKeysUntilMs: number } | undefined;
  let reading: Promise<string> | undefined;
  let doubts = 0;

  async function read(): Promise<string> {
    const before = doubts;
    const { epoch, mayHaveLostKeysMs } = await look(deps).catch(throwTransient);
    // A result that was read on a connection which is lost by now proves nothing.
    if (before !== doubts)
      throw new Transient('keys_unavailable', 'The connection to the key store was lost.');
    known = { epoch, mayHaveLostKeysUntilMs: clock.monotonicMs() + mayHaveLostKeysMs };
    return epoch;
  }

  return {
    async mark() {
      if (known) return known.epoch;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      return await reading;
    },
    // A store of unknown state may have lost keys.
    // mutant: run-id-believed
    mayHaveLostKeys: () => !known || known.mayHaveLostKeysUntilMs > clock.monotonicMs(),
    doubt() {
      doubts++;
      known = undefined;
    },
  };
}

/** What Postgres has of it, once both have the same. */
async function look(deps: EpochDeps): Promise<EpochRow> {
  const { client, markKeys, pool, name } = deps;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const runId = await client.identity();
    const marks = await client.getAll(markKeys);
    const row = await readRow(pool, name);
    if (row?.runId === runId && marks.every((mark) => mark === row.epoch)) return row;
    const written = await write(deps, row, runId);
    if (written) await client.setAll(markKeys, written);
  }
  throw new Transient('keys_unavailable', 'The key store changes all the time.');
}

async function readRow(pool: Pool, name: string): Promise<EpochRow | undefined> {
  const { rows } = await pool.query<EpochRow>(
    `SELECT birth AS epoch, run_id AS "runId",
            greatest(0, extract(epoch FROM young_until - now()) * 1000)::float8 AS "mayHaveLostKeysMs"
     FROM key_stores WHERE name = $1`,
    [name],
  );
  return rows[0];
}

/** The new mark; undefined when another process was faster: what it wrote is read. */
async function write(
  { pool, name, keepMs, log }: EpochDeps,
  before: EpochRow | undefined,
  runId: string,
): Promise<string | undefined> {
  const epoch = randomBytes(8).toString('hex');
  if (!before) {
    // Of a store that nothing was ever claimed in no key can be missing.
    const { rowCount } = await pool.query(
      'INSERT INTO key_stores (name, birth, run_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [name, epoch, runId],
    );
    return rowCount === 1 ? epoch : undefined;
  }
  const { rowCount } = await pool.query(
    `UPDATE key_stores
     SET birth = $3, run_id = $4, young_until = now() + $5 * interval '1 millisecond'
     WHERE name = $1 AND birth = $2`,
    [name, before.epoch, epoch, runId, keepMs],
  );
  if (rowCount !== 1) return undefined;
  log.warn(
    { forMs: keepMs },
    'the key store was restarted or replaced: claimed events are searched for in ClickHouse for a while',
  );
  return epoch;
}
