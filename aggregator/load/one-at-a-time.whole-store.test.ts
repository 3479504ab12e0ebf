import { Registry } from 'prom-client';
import { expect, it, onTestFinished } from 'vitest';
import { createMutex } from '../../infra/platform/mutex.ts';
import { poll } from '../../infra/platform/poll.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import { TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { frameOf, type LoggedEvent } from '../../tests/support/load-frames.ts';
import { type LoadStores, openLoadStores } from '../../tests/support/load-stores.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { events, exactly, placeOf, ranges, withInsert } from '../aggregator-under-test.ts';
import { createAggregatorMetrics } from '../metrics.ts';
import { freezeRange } from '../store/ranges.ts';
import { addFrame, emptyBlock } from './block.ts';
import { type Lease, takeLease } from './lease.ts';
import { type DistributedLoad, type LoadDeps, loadBlock, resumeRange } from './load-range.ts';

/** An aggregator of a log that several load. */
function aggregatorOf(stores: LoadStores, given: Partial<DistributedLoad> = {}): LoadDeps {
  const metrics = createAggregatorMetrics(new Registry());
  const distributed = { deadLetters: { put: async () => undefined }, ...given };
  return { ...stores, clock: systemClock, log: SILENT, metrics, distributed };
}

async function leaseOf(deps: LoadDeps, partition: number): Promise<Lease> {
  const lease = await takeLease(deps, placeOf(deps, partition), { owner: 'a', leaseMs: 30_000 });
  if (!lease) throw new Error('another owner holds it');
  onTestFinished(() => lease.end());
  return lease;
}

function blockOf({ reader }: LoadStores, given: LoggedEvent[]) {
  const block = emptyBlock(0);
  const bytes = Buffer.concat(frameOf(reader.logId, given, TEST_NOW_MS));
  addFrame(block, { position: 0, next: 1, bytes }, reader.logId);
  return block;
}

// Red when partitions are inserted concurrently into a cluster, which rejects the second insert at once.
it('a warehouse that takes one insert at a time gets no two concurrently', async () => {
  const stores = await openLoadStores();
  let [running, most] = [0, 0];
  const warehouse = withInsert(stores, async (insert) => {
    most = Math.max(most, ++running);
    // For another one that does not wait.
    await poll(async () => (running > 1 ? true : undefined), { timeoutMs: 300, everyMs: 10 });
    await insert().finally(() => running--);
  });
  const process = () => ({ ...aggregatorOf(stores, { oneAtATime: createMutex() }), warehouse });
  const [one, two] = [process(), process()];
  const load = async (deps: LoadDeps, partition: number) => {
    const given = events(partition * 10, partition * 10 + 10);
    await loadBlock(deps, await leaseOf(deps, partition), blockOf(stores, given), []);
  };
  await Promise.all([load(one, 0), load(one, 1), load(two, 2), load(two, 3)]);
  expect(most).toBe(1);
  expect(await stores.counted()).toEqual(exactly(40));
});

// Red when a repair of a block does not check whether it still holds the lock exclusively.
it('a process that has lost the insert lock does not repair a block', async () => {
  const stores = await openLoadStores();
  const end = await stores.append(events(0, 10));
  const loseHours = async (insert: () => Promise<void>) => {
    await insert();
    await stores.rows('ALTER TABLE metergate.usage_hourly DELETE WHERE true SETTINGS mutations_sync = 1');
    await putOutFirst(stores)(insert);
  };
  const deps = { ...aggregatorOf(stores), warehouse: withInsert(stores, loseHours) };
  const lease = await leaseOf(deps, 0);
  const { checksum, eventCount, throughMs } = await readWhole(stores, end);
  const { logId, partition, epoch } = lease;
  const range = { logId, partition, epoch, lo: 0, hi: end, checksum, eventCount, throughMs, dropped: [] };
  expect(await freezeRange(stores.pool, range)).toBe(true);
  await expect(resumeRange(deps, lease, { ...range, state: 'pending' })).rejects.toMatchObject({
    name: 'Transient',
    code: 'insert_gate_lost',
  });
  expect((await stores.counted()).hourlyEvents).toBe(0);
  // The next owner does.
  await resumeRange(aggregatorOf(stores), lease, { ...range, state: 'pending' });
  expect(await stores.counted()).toEqual(exactly(10));
});

// Red when a range is marked loaded though a repair may have run between its events and its hours.
it('an insert that lost the insert lock leaves its range to be repaired', async () => {
  const stores = await openLoadStores();
  const deps = { ...aggregatorOf(stores), warehouse: withInsert(stores, putOutFirst(stores)) };
  const lease = await leaseOf(deps, 0);
  await expect(loadBlock(deps, lease, blockOf(stores, events(0, 10)), [])).rejects.toMatchObject({
    name: 'Transient',
    code: 'insert_gate_lost',
  });
  expect((await ranges(stores)).map(({ state }) => state)).toEqual(['pending']);
});

function putOutFirst({ pool }: LoadStores) {
  return async (insert: () => Promise<void>) => {
    await pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks
       WHERE locktype = 'advisory'
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    await insert();
  };
}

async function readWhole({ reader }: LoadStores, end: number) {
  const block = emptyBlock(0);
  for (const frame of await reader.read(0, 0, 1_000_000)) addFrame(block, frame, reader.logId);
  expect(block.hi).toBe(end);
  return block;
}
