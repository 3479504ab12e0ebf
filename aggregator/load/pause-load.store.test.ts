import { expect, it, onTestFinished, vi } from 'vitest';
import { poll } from '../../infra/platform/poll.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import { type LoadStores, openLoadStores } from '../../tests/support/load-stores.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import {
  appendSettled,
  createEnd,
  events,
  exactly,
  placeOf,
  ranges,
  settledUpTo,
  start,
  withInsert,
} from '../aggregator-under-test.ts';
import { withInsertLock } from './insert-lock.ts';
import { takeLease } from './lease.ts';
import { createPause } from './pause-load.ts';

// Red when the ranges are not resumed first: the work finds one pending, and it is sent again after it.
it('a view is changed once what a crash left pending is loaded, and the load continues', async () => {
  const { stores, end } = await openPending({ isStored: true });
  expect(await states(stores)).toEqual(['pending']);

  await pauseOf(stores)(async () => expect(await states(stores)).toEqual(['loaded']));
  await end();
  const last = await stores.append(events(10, 20));
  start(stores);
  await settledUpTo(stores, last);
  expect(await stores.counted()).toEqual(exactly(20));
});

// Red when each partition is resumed once it is held: hours are rewritten during another partition's insert.
it('nothing is sent again while any process loads', async () => {
  const { stores } = await openPending({ isStored: false });
  const other = await takeLease(depsOf(stores), placeOf(stores, 1), { owner: 'b', leaseMs: 30_000 });
  const reader = { ...stores.reader, partitions: 2 };
  const pausing = pauseOf({ ...stores, reader })(async () => undefined);
  const early = await poll(async () => ((await states(stores))[0] === 'pending' ? undefined : true), {
    timeoutMs: 1_000,
    everyMs: 20,
  });
  expect(early).toBeUndefined();
  await other?.end();
  await pausing;
  expect(await states(stores)).toEqual(['loaded']);
});

// Red when the insert lock is not taken: a process without its lease may be between its events and its hours.
it('of a log that several processes load, nothing is sent again or changed during an insert', async () => {
  const { stores } = await openPending({ isStored: false });
  const distributed = { deadLetters: { put: async () => undefined } };
  const deps = { ...depsOf(stores), distributed };
  const work = vi.fn(async () => undefined);
  for (const state of ['pending', 'loaded']) {
    const other = createEnd();
    onTestFinished(other.release);
    const { logId } = placeOf(stores);
    const inserting = withInsertLock(stores.pool, { logId, alone: false }, other.here);
    await other.reached;
    work.mockClear();
    const pausing = createPause(deps, { owner: 'test' })(work);
    const early = async () => work.mock.calls.length > 0 || (await states(stores))[0] !== state;
    expect(
      await poll(async () => ((await early()) ? true : undefined), { timeoutMs: 1_000, everyMs: 20 }),
    ).toBeUndefined();
    other.release();
    await Promise.all([inserting, pausing]);
    expect(work).toHaveBeenCalledOnce();
  }
});

// Red when the lease is not checked: the other process's block arrives while there is no view.
it('a view is not changed while another process loads', async () => {
  const stores = await openLoadStores();
  const other = await takeLease(depsOf(stores), placeOf(stores), { owner: 'b', leaseMs: 30_000 });
  onTestFinished(() => other?.end());
  const work = vi.fn(async () => undefined);
  await expect(pauseOf(stores)(work)).rejects.toMatchObject({
    name: 'Transient',
    code: 'partition_held',
  });
  expect(work).not.toHaveBeenCalled();

  await other?.end();
  await pauseOf(stores)(work);
  expect(work).toHaveBeenCalledOnce();
});

// Red when the work does not learn of the lock: it writes while another process has it.
it('work that lost the insert lock meanwhile may not write any more', async () => {
  const stores = await openLoadStores();
  const deps = { ...depsOf(stores), distributed: { deadLetters: { put: async () => undefined } } };
  const write = vi.fn();
  const pausing = createPause(deps, { owner: 'test' })(async (mayWrite) => {
    await mayWrite();
    await stores.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database AS own ON own.oid = database
       WHERE locktype = 'advisory' AND datname = current_database() AND pid <> pg_backend_pid()`,
    );
    await mayWrite();
    write();
  });
  await expect(pausing).rejects.toMatchObject({ code: 'insert_gate_lost' });
  expect(write).not.toHaveBeenCalled();
});

it('a failure while the load is paused leaves the partition to the next owner', async () => {
  const stores = await openLoadStores();
  const failing = pauseOf(stores)(() => Promise.reject(new Error('no view')));
  await expect(failing).rejects.toThrow('no view');
  start(stores, {}, { owner: 'b' });
  await appendSettled(stores, events(0, 10));
});

/**
 * A load that pauses in its insert, before or after the rows are stored, until `end` lets it go on. It loads
 * nothing more then: the next load has its name, and the two would take the lease from each other.
 */
async function openPending({ isStored }: { isStored: boolean }) {
  const stores = await openLoadStores();
  await stores.append(events(0, 10));
  const insertEnd = createEnd();
  const insertAndWait = (insert: () => Promise<void>) =>
    isStored ? insert().then(insertEnd.here) : insertEnd.here();
  const load = start(stores, { warehouse: withInsert(stores, insertAndWait) });
  onTestFinished(insertEnd.release);
  await insertEnd.reached;
  const end = async () => {
    const closed = load.close();
    insertEnd.release();
    await closed;
  };
  return { stores, end };
}

function depsOf(stores: LoadStores) {
  return { ...stores, clock: systemClock, log: SILENT };
}

function pauseOf(stores: LoadStores) {
  return createPause(depsOf(stores), { owner: 'test' });
}

async function states(stores: LoadStores): Promise<string[]> {
  return (await ranges(stores)).map(({ state }) => state);
}
