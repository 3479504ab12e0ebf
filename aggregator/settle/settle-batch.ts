import type { Pool, PoolClient } from 'pg';
import type { Mutex } from '../../infra/platform/mutex.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import { type Lease, leaseLost } from '../load/lease.ts';
import { shareSettlement } from '../store/leases.ts';
import { markSettled, type Range } from '../store/ranges.ts';
import { advanceMark, removeMarks } from '../store/settlement-marks.ts';
import { type Settled, settleCustomerMeters } from './settle-customer-meters.ts';

/** What is settled at once. */
export interface Batch {
  /** Loaded, in order. */
  ranges: readonly Range[];
  /** Each once. */
  customerMeters: readonly TouchedCustomerMeter[];
  marks: readonly MarkDone[];
}

/** A mark whose customer meters are in the batch: up to this customer, or all. */
export interface MarkDone {
  id: number;
  position: string | undefined;
}

export interface BatchDeps {
  pool: Pool;
  warehouse: Warehouse;
  clock: Clock;
  /** Usage that occurred before this time is deleted. */
  keptFromMs: () => number;
  /** Only one settlement runs at a time: those of one process wait for each other here. */
  distributed?: { settling?: Mutex };
}

/** Of one transaction. It locks the wallets of their customers, and grants of credits wait for it. */
const CUSTOMER_METERS_MAX = 300;

/**
 * Settles loaded ranges. Their marks are in one transaction with the last part of the work: after a crash a
 * marked range has been settled completely, and one without a mark is settled again, with the same result.
 * Only the epoch that holds the partition can do this. Throws Transient.
 */
export async function settleBatch(
  { pool, distributed, ...deps }: BatchDeps,
  lease: Lease,
  { ranges, customerMeters, marks }: Batch,
): Promise<Pick<Settled, 'watched' | 'crossings'>> {
  const watched: TouchedCustomerMeter[] = [];
  let crossings = 0;
  let left: readonly TouchedCustomerMeter[] = inStoredOrder(customerMeters);
  do {
    const chunk = left.slice(0, CUSTOMER_METERS_MAX);
    const behind = left.slice(CUSTOMER_METERS_MAX);
    const settle = () =>
      inTransaction(pool, async (client) => {
        const done = await settleChunk(client, { ...deps, lease }, chunk);
        const isLast = behind.length + done.rest.length === 0;
        // mutant: settlement-outside-its-transaction
        if (isLast) await markDone(client, ranges, marks);
        return done;
      });
    const settled = await (distributed?.settling && chunk.length > 0
      ? distributed.settling(settle)
      : settle());
    watched.push(...settled.watched);
    crossings += settled.crossings;
    left = [...behind, ...settled.rest];
  } while (left.length > 0);
  return { watched, crossings };
}

/**
 * As the warehouse sorts its rows: what is settled together is in one place there. Of 100,000 customers a
 * chunk in any order reads nearly every block, 1.2 ms of CPU for each customer meter instead of 0.3. Sorting
 * takes 1 µs.
 */
function inStoredOrder(customerMeters: readonly TouchedCustomerMeter[]): TouchedCustomerMeter[] {
  return [...customerMeters].sort(
    (one, other) =>
      compare(one.environment, other.environment) ||
      compare(one.customerId, other.customerId) ||
      compare(one.meterKey, other.meterKey),
  );
}

/** By code units, as ClickHouse compares ids and keys, which are ASCII. */
function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

const NOTHING: Settled = { watched: [], rest: [], crossings: 0 };

async function settleChunk(
  client: PoolClient,
  { warehouse, clock, keptFromMs, lease }: Omit<BatchDeps, 'pool' | 'distributed'> & { lease: Lease },
  chunk: readonly TouchedCustomerMeter[],
): Promise<Settled> {
  if (chunk.length === 0) return NOTHING;
  if (!(await shareSettlement(client, lease, lease.epoch))) throw leaseLost();
  const time = { nowMs: clock.nowMs(), keptFromMs: keptFromMs() };
  return settleCustomerMeters(client, { warehouse, ...time }, chunk);
}

async function markDone(
  client: PoolClient,
  ranges: readonly Range[],
  marks: readonly MarkDone[],
): Promise<void> {
  for (const range of ranges) if (!(await markSettled(client, range))) throw leaseLost();
  const ended = marks.flatMap(({ id, position }) => (position === undefined ? [id] : []));
  if (ended.length > 0) await removeMarks(client, ended);
  for (const { id, position } of marks) if (position !== undefined) await advanceMark(client, id, position);
}
