import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { kafkaUnderTest } from '../../infra/kafka/kafka-under-test.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import { deferred } from '../../tests/support/deferred.ts';
import { ofLaterVersion } from '../../tests/support/earlier-frames.ts';
import { TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { frameOf } from '../../tests/support/load-frames.ts';
import { openLoadStores } from '../../tests/support/load-stores.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { alarms, events, exactly, placeOf, start } from '../aggregator-under-test.ts';
import { freezeRange } from '../store/ranges.ts';
import {
  counted,
  createTopic,
  type DistributedLoadUnderTest,
  giveUpRecords,
  openDistributedLoad,
  owners,
  PARTITIONS,
  PATIENCE,
  putAll,
  SOON,
} from './distributed-load-under-test.ts';
import { createPause } from './pause-load.ts';

test('two share the partitions, each event is counted once, and one continues for both', async () => {
  const opened = await openDistributedLoad();
  const first = opened.load('one');
  await putAll(opened, events(0, 100));
  await counted(opened, 100, PATIENCE);
  expect(await owners(opened)).toEqual(['one', 'one']);
  opened.load('two', await opened.topic.open());
  await vi.waitFor(async () => expect((await owners(opened)).sort()).toEqual(['one', 'two']), PATIENCE);
  await putAll(opened, events(100, 200));
  await counted(opened, 200, PATIENCE);
  await first.close();
  await putAll(opened, events(200, 300));
  await counted(opened, 300, PATIENCE);
});

// Red when a new release waits for processes of the old one, which load on until the new one is ready.
test('a view is changed while others load: they give up the partitions meanwhile, and load on', async () => {
  const opened = await openDistributedLoad();
  const { stores, kafka } = opened;
  opened.load('one');
  await putAll(opened, events(0, 50));
  await counted(opened, 50, PATIENCE);
  const { reader, deadLetters } = kafka;
  const load = { ...stores, reader, clock: systemClock, log: SILENT, distributed: { deadLetters } };
  await createPause(load, { owner: 'two' })(async () => {
    expect(await owners(opened)).toEqual(['two', 'two']);
  });
  await putAll(opened, events(50, 80));
  await counted(opened, 80, PATIENCE);
  expect(await owners(opened)).toEqual(['one', 'one']);
});

// Red when the flagged events are not searched for, or when the search drops new events.
test('a flagged event that is stored is left out, and one that is new is counted', async () => {
  const opened = await openDistributedLoad();
  // So that it has forgotten most of what it saw.
  opened.load('one', opened.kafka, { generationMax: 2 });
  await opened.put(0, events(0, 20));
  await counted(opened, 20);
  await opened.put(0, events(1, 25), [...Array(24).keys()]);
  await counted(opened, 25);
  expect(await alarms(opened.stores)).toEqual([]);
});

// Red when a void is not looked up, or by its own id, which no row has: it takes its event away twice.
test('a flagged record of a change that is stored is left out, of a void too', async () => {
  const opened = await openDistributedLoad();
  opened.load('one', opened.kafka, { generationMax: 2 });
  const added = events(1, 7).map((event) => ({ ...event, change: { number: 7, voids: false } }));
  const voids = (number: number, count: number) =>
    events(1, 1 + count).map((event) => ({ ...event, change: { number, voids: true, of: 7 } }));
  await opened.put(0, [...added, ...voids(8, 4)]);
  // So that they are stored when they come again: this filter knows less than a block, no real one does.
  await vi.waitFor(async () => expect(await eventsOfChanges(opened)).toEqual({ 7: 6, 8: -4 }), PATIENCE);
  await opened.put(0, [...added, ...voids(8, 6), ...voids(9, 1)], [...Array(13).keys()]);
  await opened.put(0, events(0, 1));
  await counted(opened, 1);
  expect(await eventsOfChanges(opened)).toEqual({ 7: 6, 8: -6, 9: -1 });
  expect(await alarms(opened.stores)).toEqual([]);
});

test('a foreign record becomes a dead letter with the reason, and the partition continues', async () => {
  const opened = await openDistributedLoad();
  opened.load('one');
  await opened.topic.putForeign(0, 'hello');
  await opened.put(0, events(0, 3));
  await counted(opened, 3);
  const [letter] = await opened.topic.letters();
  expect(letter).toMatchObject({ value: 'hello', headers: { partition: '0', offset: '1' } });
  expect(letter?.headers.reason).toMatch(/begin/);
  expect(await alarms(opened.stores)).toEqual([]);
});

// Red when a frame of a later release is skipped or taken for a foreign record.
test('a frame of an unknown version stops its partition, with an alarm, and no other', async () => {
  const opened = await openDistributedLoad();
  opened.load('one');
  const frame = frameOf(opened.kafka.logId, events(50, 51), TEST_NOW_MS);
  await opened.kafka.writer(0).append([ofLaterVersion(frame)]);
  await opened.put(0, events(51, 52));
  await opened.put(1, events(0, 3));
  await counted(opened, 3);
  await vi.waitFor(async () => expect(await alarms(opened.stores)).toContain('frame_version_unknown'), SOON);
});

test('a frame of another log stops its partition', async () => {
  const opened = await openDistributedLoad();
  opened.load('one');
  await opened.kafka.writer(0).append(frameOf(Buffer.alloc(16, 3), events(0, 1), TEST_NOW_MS));
  await vi.waitFor(async () => expect(await alarms(opened.stores)).toContain('frame_of_other_log'), SOON);
});

// Red when the end of the log is not compared with what was loaded, and when its topic identity is ignored.
test('a topic that was created again is detected, whatever records it has', async () => {
  const opened = await openDistributedLoad();
  const loading = opened.load('one');
  await opened.put(0, events(0, 3));
  await counted(opened, 3);
  await loading.close();
  const { client, settings } = opened.topic;
  await client.admin.deleteTopics({ topics: [settings.topic] });
  await delay(500);
  await createTopic(opened.topic);
  for (let record = 0; record < 5; record++) await opened.topic.putForeign(0, 'new');
  opened.load('two', await opened.topic.open());
  await vi.waitFor(async () => expect(await alarms(opened.stores)).toContain('log_recreated'), SOON);
  expect(await opened.stores.counted()).toEqual(exactly(3));
});

// Red when reading continues silently where the log begins now.
test('what Kafka gave up before it was loaded is named, and not passed over', async () => {
  const opened = await openDistributedLoad();
  await opened.put(0, events(0, 3));
  await opened.put(0, events(3, 6));
  await giveUpRecords(opened.topic, '2');
  opened.load('one');
  await vi.waitFor(async () => expect(await alarms(opened.stores)).toContain('log_trimmed'), SOON);
  expect((await opened.stores.counted()).rows).toBe(0);
});

// Red when deleted records are requested though they were never ours. What is left of such a record is
// checked: a frame of another Metergate log must not be skipped.
test('a topic that others used before, and that gave up what they wrote, is loaded', async () => {
  const stores = await openLoadStores();
  const topic = await kafkaUnderTest(stores.pool, { partitions: PARTITIONS });
  await createTopic(topic);
  for (const value of ['a', 'b', 'c']) await topic.putForeign(0, value);
  await giveUpRecords(topic, '2');
  const opened = await openDistributedLoad({ stores, topic });
  opened.load('one');
  await putAll(opened, events(0, 20));
  await counted(opened, 20, PATIENCE);
  expect(await alarms(stores)).toEqual([]);
  expect((await topic.letters()).map(({ value }) => value)).toEqual(['c']);
});

/** A pool on which no range of the partition can be marked as loaded until that is allowed. */
function withoutMarks(pool: Pool, partition: number) {
  let held = 0;
  const allowed = deferred<void>();
  const query = async (text: string, values: unknown[]) => {
    if (text.includes(`SET state = 'loaded'`) && values[1] === partition) {
      held++;
      await allowed.promise;
    }
    return await pool.query(text, values);
  };
  const stuck = { query, connect: pool.connect.bind(pool) } as unknown as Pool;
  return { pool: stuck, held: () => held, allow: () => allowed.resolve() };
}

// Red when a range that is sent again has a token of its own.
test('a process that hung after its insert finds a new owner; each event counts once', async () => {
  const opened = await openDistributedLoad();
  const { stores, kafka, put } = opened;
  const slow = withoutMarks(stores.pool, 0);
  const distributed = { deadLetters: kafka.deadLetters };
  // Before the start: the first range that is held has them.
  await put(0, events(0, 3));
  start(stores, { pool: slow.pool, reader: kafka.reader, distributed }, { owner: 'one' });
  // Registered after the load: it runs before the load is closed, which waits for the mark.
  onTestFinished(slow.allow);
  await expect.poll(slow.held, SOON).toBe(1);
  // Of two with one name the later has the partition at once, as after the lease.
  const other = opened.load('one', await opened.topic.open());
  await counted(opened, 3, PATIENCE);
  await put(0, events(3, 6));
  await counted(opened, 6, PATIENCE);
  slow.allow();
  await other.close();
  await put(0, events(6, 9));
  await counted(opened, 9, PATIENCE);
});

// Red when a freeze does not check the epoch.
test('a process that has lost its lease freezes nothing any more', async () => {
  const opened = await openDistributedLoad();
  const { stores, kafka, put } = opened;
  opened.load('one');
  await put(0, events(0, 3));
  await counted(opened, 3);
  const { rows } = await stores.pool.query<{ epoch: number; hi: number }>(
    `SELECT max(leases.epoch) AS epoch, max(hi) AS hi
     FROM partition_leases AS leases JOIN log_ranges USING (log_id, partition) WHERE partition = 0`,
  );
  const { epoch = 0, hi = 0 } = rows[0] ?? {};
  const late = { ...placeOf(kafka), lo: hi, hi: hi + 1, epoch: epoch - 1, eventCount: 1, dropped: [] };
  expect(await freezeRange(stores.pool, { ...late, checksum: 1, throughMs: 1 })).toBe(false);
});

/** Of each change the number of events that it adds, less those that it takes away. */
async function eventsOfChanges({ stores }: DistributedLoadUnderTest): Promise<Record<string, number>> {
  const rows = await stores.rows<{ change: string; more: string }>(
    `SELECT toString(change) AS change, toString(reinterpretAsInt64(sum(hours.events))) AS more
     FROM metergate.change_hourly AS hours GROUP BY change`,
  );
  return Object.fromEntries(rows.map(({ change, more }) => [change, Number(more)]));
}
