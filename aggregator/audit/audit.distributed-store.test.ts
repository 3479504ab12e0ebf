import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { kafkaUnderTest } from '../../infra/kafka/kafka-under-test.ts';
import { eventLines, TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { eventId, type LoggedEvent } from '../../tests/support/load-frames.ts';
import { alarms, deleteEvent, events, exactly } from '../aggregator-under-test.ts';
import {
  counted,
  type DistributedLoadUnderTest,
  giveUpRecords,
  openDistributedLoad,
  owners,
  PARTITIONS,
  PATIENCE,
  putAll,
} from '../load/distributed-load-under-test.ts';
import { audit } from './audit-under-test.ts';
import type { Difference } from './hour-sums.ts';
import { AUDIT_EXIT } from './request-audit.ts';

const HOUR_MS = 3_600_000;

describe('an audit of a log that several load', () => {
  // Red when records of others, marks and flagged repetitions are taken for events that were to be counted.
  it('finds nothing where all was counted once, and the partitions are shared again afterwards', async () => {
    const opened = await openDistributedLoad();
    opened.load('one');
    opened.load('two', await opened.topic.open());
    await vi.waitFor(async () => expect((await owners(opened)).sort()).toEqual(['one', 'two']), PATIENCE);
    await putAll(opened, events(0, 60));
    await opened.topic.putForeign(0, 'hello');
    await counted(opened, 60, PATIENCE);
    await opened.put(0, events(0, 5), [0, 1, 2, 3, 4]);
    await opened.put(1, [{ id: 'bad', line: 'garbage\n' }, ...events(60, 61)]);
    await counted(opened, 61, PATIENCE);
    expect(await audit(opened.stores)).toMatchObject({ code: AUDIT_EXIT.same, differences: [] });
    await vi.waitFor(async () => expect((await owners(opened)).sort()).toEqual(['one', 'two']), PATIENCE);
    await putAll(opened, events(61, 100));
    await counted(opened, 100, PATIENCE);
    expect(await alarms(opened.stores)).toEqual([]);
  });

  // Red when only some of the partitions are compared with what is stored.
  it('names what is missing, what was counted twice and what is stored at two times', async () => {
    const opened = await loaded(events(0, 40));
    await damage(opened);
    const { code, differences } = await audit(opened.stores);
    expect(code).toBe(AUDIT_EXIT.different);
    expect(differences.map(inShort).sort()).toEqual([
      `log cus_0 ${hourOf(9)}: 1 for 0`,
      `log cus_1 ${hourOf(7)}: 9 for 10`,
      `rollup cus_1 ${hourOf(7)}: 10 for 9`,
      `rollup cus_2 ${hourOf(8)}: 11 for 10`,
    ]);
  });

  // Red when a repair deletes events: Kafka may give up meanwhile what would have to be put back.
  it('puts back what is missing, and takes away nothing that is stored', async () => {
    const opened = await loaded(events(0, 40));
    await damage(opened);
    const { code, differences } = await audit(opened.stores, { repair: true });
    expect(code).toBe(AUDIT_EXIT.different);
    expect(differences.map(inShort)).toEqual([`log cus_0 ${hourOf(9)}: 1 for 0`]);
    const { distinct, hourlyEvents } = await opened.stores.counted();
    expect([distinct, hourlyEvents]).toEqual([40, 41]);
  });

  // Red when what Kafka gave up is expected to be there still.
  it('compares what the topic still has, and reports that', async () => {
    const opened = await loaded([]);
    for (let at = 0; at < 4; at++) {
      const atMs = TEST_NOW_MS + at * HOUR_MS;
      const some = events(at * 20, at * 20 + 20).map((event) => ({ ...event, createdAtMs: atMs - 500 }));
      await putAll(opened, some, atMs);
      await counted(opened, at * 20 + 20, PATIENCE);
    }
    await giveUpRecords(opened.topic, '3');
    expect(await audit(opened.stores)).toMatchObject({ code: AUDIT_EXIT.same, differences: [] });
    await deleteEvent(opened.stores, 2);
    expect((await audit(opened.stores)).differences.map(({ kind }) => kind)).toEqual(['lost']);
    await deleteEvent(opened.stores, 79);
    expect((await audit(opened.stores)).differences.map(({ kind }) => kind).sort()).toEqual([
      ...['log', 'lost', 'rollup'],
    ]);
  });

  // Red when every stored event is expected to be on the topic that is used now.
  it('leaves alone what came by an earlier topic', async () => {
    const opened = await loaded(events(0, 20));
    await opened.loading.close();
    const next = await kafkaUnderTest(opened.stores.pool, { partitions: PARTITIONS });
    opened.load('two', await next.open());
    expect(await audit(opened.stores)).toMatchObject({ code: AUDIT_EXIT.same, differences: [] });
  });

  // Red when runs that a process left behind are not taken over, or when a second process starts them too.
  it('is done again by another where its process ended in the middle', async () => {
    const opened = await loaded(events(0, 20));
    const { pool } = opened.stores;
    await pool.query("INSERT INTO audit_runs (id, repair, state) VALUES ('x', false, 'running')");
    const state = async () => (await pool.query("SELECT state FROM audit_runs WHERE id = 'x'")).rows[0].state;
    await vi.waitFor(async () => expect(await state()).toBe('done'), PATIENCE);
    expect(await opened.stores.counted()).toEqual(exactly(20));
  });
});

async function loaded(given: LoggedEvent[]) {
  const opened = await openDistributedLoad();
  const loading = opened.load('one');
  await putAll(opened, given);
  await counted(opened, given.length, PATIENCE);
  return { ...opened, loading };
}

/** One event is missing, one was inserted twice, and one is stored at another time as well. */
async function damage(opened: DistributedLoadUnderTest): Promise<void> {
  await deleteEvent(opened.stores, 7);
  const again = events(8, 9).map((event) => ({ ...event, id: eventId(event.id) }));
  const elsewhere = events(9, 10).map((event) => ({
    ...event,
    id: eventId(event.id),
    occurredAtMs: timeOf(9) - 5 * HOUR_MS,
  }));
  for (const some of [again, elsewhere]) {
    const lines = eventLines(some);
    await opened.stores.warehouse.insertEvents({ token: randomUUID(), lines, timeoutMs: 5_000 });
  }
}

function timeOf(number: number): number {
  return TEST_NOW_MS - number * 60_000;
}

function hourOf(number: number): string {
  const hours = number === 9 ? timeOf(number) - 5 * HOUR_MS : timeOf(number);
  return new Date(Math.floor(hours / HOUR_MS) * HOUR_MS).toISOString();
}

function inShort({ kind, customerId, hour, found, expected }: Difference): string {
  return `${kind} ${customerId} ${hour}: ${found.events} for ${expected.events}`;
}
