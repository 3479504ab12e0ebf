import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { readKnownStamp } from '../domain/store/warehouse-stamps.ts';
import { stampsInFolder, stampsInTable } from '../infra/clickhouse/warehouse-stamps.ts';
import { exitCodeOf } from '../infra/platform/exit-code.ts';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import type { WarehouseStamp } from '../infra/ports/warehouse-stamps.ts';
import { Transient } from '../schemas/failures.ts';
import { openLoadStores } from '../tests/support/load-stores.ts';
import { testFolder } from '../tests/support/test-folder.ts';
import { appendSettled, events, exactly, placeOf, start, WAIT } from './aggregator-under-test.ts';
import { createKnownWarehouse, keepStamping } from './known-warehouse.ts';
import { rebuildWarehouse } from './rebuild-warehouse.ts';
import { rangeEnds } from './store/ranges.ts';

const log = pino({ level: 'silent' });
const COUNTED = 40;

/** An installation that has counted, after a stop. */
async function installation(kind: Kind) {
  const stores = await openLoadStores();
  const load = start(stores);
  await appendSettled(stores, events(0, COUNTED));
  await load.close();
  const { pool, warehouse, rows } = stores;
  const { logId } = placeOf(stores);
  let stamps = STAMPS[kind](warehouse, testFolder());
  const known = () => createKnownWarehouse({ pool, warehouse, stamps, logId, keepsEvents: true });
  return {
    stores,
    reject: () => known().rejectOther(),
    stamp: () => known().stamp(),
    write: (stamp: WarehouseStamp) => stamps.write(stamp),
    /** As stored in the database. */
    async recorded(): Promise<WarehouseStamp> {
      return (await readKnownStamp(pool)) ?? { id: 'none', stamp: 0 };
    },
    /** An empty one is in its place, at the release of this one where it is to be used. */
    async lose({ isMigrated = true } = {}): Promise<void> {
      await rows('DROP DATABASE metergate SYNC');
      if (isMigrated) await warehouse.migrate();
      stamps = STAMPS[kind](warehouse, testFolder());
    },
  };
}

type Kind = keyof typeof STAMPS;

const STAMPS = {
  'a folder': (_: Warehouse, folder: string) => stampsInFolder(folder),
  'a server': (warehouse: Warehouse) => stampsInTable(warehouse, (sql) => sql),
};

async function rejectionOf(
  work: () => Promise<void>,
): Promise<{ code: string; message: string; exit: number }> {
  const error = await work().then(
    () => new TypeError('it was not rejected'),
    (rejection: unknown) => rejection,
  );
  return { ...(error as { code: string }), message: (error as Error).message, exit: exitCodeOf(error) };
}

/* Red when the warehouse is not checked: a start becomes ready, and a strong counter is 0. */
describe.each(Object.keys(STAMPS) as Kind[])(
  'the warehouse, in %s, that a database has counted in',
  (kind) => {
    it('is known again, also by a process that was killed in the middle of a stamp', async () => {
      const { reject, stamp, write, recorded } = await installation(kind);
      // Of the release before, which set no stamps.
      await reject();
      for (let starts = 0; starts < 3; starts++) {
        await stamp();
        await reject();
      }
      expect((await recorded()).stamp).toBe(3);
      await write({ ...(await recorded()), stamp: 4 });
      await reject();
    });

    it('is rejected where it is lost, and where it was put back from a backup', async () => {
      const { reject, stamp, write, recorded, lose } = await installation(kind);
      await stamp();
      const first = await recorded();
      for (let starts = 0; starts < 2; starts++) await stamp();
      await lose();
      const lost = await rejectionOf(reject);
      expect(lost).toMatchObject({ code: 'warehouse_missing', exit: 4 });
      expect(lost.message).toMatch(
        /restore it from the backup of DATA_DIR, or start once with WAREHOUSE_REBUILD/,
      );
      await write(first);
      const older = await rejectionOf(reject);
      expect(older).toMatchObject({ code: 'warehouse_older', exit: 4 });
      expect(older.message).toContain('(it is at stamp 1, the database at 3)');
    });

    it('is rejected where it is of another installation, and where the database was put back', async () => {
      const { stores, reject, stamp, write, recorded, lose } = await installation(kind);
      await stamp();
      await write({ ...(await recorded()), stamp: 9 });
      expect(await rejectionOf(reject)).toMatchObject({ code: 'database_older', exit: 4 });
      await lose();
      await write({ id: 'another', stamp: 1 });
      expect(await rejectionOf(reject)).toMatchObject({ code: 'warehouse_foreign', exit: 4 });
      // A new database knows of none.
      await stores.pool.query('DELETE FROM warehouse_stamps');
      expect(await rejectionOf(reject)).toMatchObject({ code: 'warehouse_foreign' });
    });
  },
);

// Red when only stamps are checked: a warehouse that was lost before its first stamp would not be noticed.
it('one without any event is rejected where events were counted, with what the log still holds', async () => {
  const { stores, reject, lose } = await installation('a folder');
  await lose({ isMigrated: false });
  const all = await rejectionOf(reject);
  expect(all).toMatchObject({ code: 'warehouse_missing', exit: 4 });
  expect(all.message).toMatch(
    /is empty, and the database has counted 40 events: .*still holds: all of them\.$/,
  );
  await stores.pool.query(
    "INSERT INTO log_trims (log_id, partition, kept_from, events) VALUES ('gone', 0, 7, 2)",
  );
  const most = await rejectionOf(reject);
  expect(most.message).toMatch(/counted 42 events: .*: all but 2 of them, which would be lost\.$/);
});

// Red when it trusts what is set at a start alone: one that is put back from an hour ago would be taken.
it('is stamped again and again while more is loaded, and not while nothing is', async () => {
  let position = 'a';
  const positions: string[] = [];
  let looks = 0;
  const stamp = async () => void positions.push(position);
  const look = async () => {
    looks += 1;
    return position;
  };
  const kept = keepStamping({ stamp, position: look, log }, 5);
  await vi.waitFor(() => expect(looks).toBeGreaterThan(3), WAIT);
  expect(positions).toEqual(['a']);
  position = 'b';
  await vi.waitFor(() => expect(positions).toEqual(['a', 'b']), WAIT);
  await kept.drain();
});

// Red when it is taken for one: it ends the start with a stack and 1.
it.each(['', '{"id":', 'null', '{"id":"a"}', '[]'])(
  'a stamp that holds %j is rejected with exit code 4',
  async (text) => {
    const folder = testFolder();
    writeFileSync(join(folder, 'metergate-stamp.json'), text);
    const rejection = await rejectionOf(async () => void (await stampsInFolder(folder).read()));
    expect(rejection).toMatchObject({ code: 'warehouse_stamp_damaged', exit: 4 });
    expect(rejection.message).toContain(`${folder}/metergate-stamp.json cannot be read: restore`);
  },
);

// Red when an orderly stop sets none: a copy of the last minute would be taken, and what came since be lost.
it('is stamped once more at an orderly stop, so that a copy taken while it ran is rejected', async () => {
  const { stores, reject, stamp, write, recorded } = await installation('a folder');
  await stamp();
  const copied = await recorded();
  const position = () => rangeEnds(stores.pool, placeOf(stores).logId);
  const kept = keepStamping({ stamp, position, log });
  await kept.drain();
  await kept.close();
  await reject();
  await write(copied);
  expect(await rejectionOf(reject)).toMatchObject({ code: 'warehouse_older', exit: 4 });
});

it('is stamped at an orderly stop only where more was loaded since, and after what is drained', async () => {
  let position = 'a';
  const positions: string[] = [];
  const stamp = async () => void positions.push(position);
  const kept = keepStamping({ stamp, position: async () => position, log }, 5);
  await vi.waitFor(() => expect(positions).toEqual(['a']), WAIT);
  await kept.drain();
  position = 'b';
  await kept.close();
  expect(positions).toEqual(['a', 'b']);
  const idle = keepStamping({ stamp, position: async () => position, log }, 5);
  await vi.waitFor(() => expect(positions).toEqual(['a', 'b', 'b']), WAIT);
  await idle.drain();
  await idle.close();
  expect(positions).toEqual(['a', 'b', 'b']);
});

// Red when the stop waits for a database that hangs: it has 7 s for everything.
it.each(['at its position', 'at its stamp'])(
  'a stop continues where the last stamp hangs %s',
  async (where) => {
    const hangs = () => new Promise<never>(() => undefined);
    const stamp = where === 'at its stamp' ? hangs : async () => undefined;
    const position = where === 'at its position' ? hangs : async () => 'a';
    const kept = keepStamping({ stamp, position, log }, 60_000, 20);
    await kept.drain();
    await expect(kept.close()).rejects.toBeInstanceOf(Transient);
  },
);

// Red when a detached part comes back with it, and when one that was cut off counts twice.
it('one that is made again of the log has each event once, also when it is made twice', async () => {
  const { stores, lose } = await installation('a folder');
  const load = start(stores);
  const bad = { ...events(0, 1)[0], id: 'bad', line: '["half a line"]\n' };
  await appendSettled(stores, [bad, ...events(COUNTED, 60)]);
  await load.close();
  await lose();
  expect((await stores.counted()).rows).toBe(0);
  for (const _ of ['lost', 'made already']) {
    await rebuildWarehouse({ ...stores, log });
    expect({ ...(await stores.counted()), rows: 60 }).toEqual(exactly(60));
  }
});
