import { expect, test, vi } from 'vitest';
import { TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { events, start } from '../aggregator-under-test.ts';
import {
  counted,
  type DistributedLoadUnderTest,
  openDistributedLoad,
  PATIENCE,
} from './distributed-load-under-test.ts';

const SECOND_MS = 1_000;
const TAKEN_OVER_MS = TEST_NOW_MS;
/** Claimed before it was taken over, and appended whenever its connection came back. */
const ORIGINAL_MS = TAKEN_OVER_MS - 15 * SECOND_MS;
const LATER_MS = TAKEN_OVER_MS + 60 * SECOND_MS;

/** Like bytes that waited in a socket of the kernel: no writer flags them any more. */
async function originalComes({ put }: DistributedLoadUnderTest): Promise<void> {
  await put(0, events(0, 3), [], ORIGINAL_MS);
  await put(0, events(100, 105), [], LATER_MS + SECOND_MS);
}

// Red when what is forgotten is not looked up.
test('an original that comes when its take-over is forgotten counts once', async () => {
  const opened = await openDistributedLoad();
  opened.load('one', opened.kafka, { generationMax: 20 });
  await opened.put(0, events(0, 3), [0, 1, 2], TAKEN_OVER_MS);
  await counted(opened, 3, PATIENCE);
  await opened.put(0, events(3, 100), [], LATER_MS);
  await counted(opened, 100);
  await originalComes(opened);
  await counted(opened, 105);
});

// Red when a new owner learns by the times of events what was loaded last: a take-over keeps the first ones.
test('an original that comes to a new owner counts once', async () => {
  const opened = await openDistributedLoad();
  const first = opened.load('one', opened.kafka, { seedMax: 10 });
  const old = events(0, 3).map((event) => ({ ...event, createdAtMs: ORIGINAL_MS }));
  await opened.put(0, events(3, 50), [], TAKEN_OVER_MS - SECOND_MS);
  await opened.put(0, old, [0, 1, 2], TAKEN_OVER_MS);
  await counted(opened, 50, PATIENCE);
  await opened.put(0, events(50, 100), [], LATER_MS);
  await counted(opened, 100);
  await first.close();
  opened.load('two', await opened.topic.open(), { seedMax: 10 });
  await originalComes(opened);
  await counted(opened, 105, PATIENCE);
});

// Red when a new owner starts with no ids: it would query all that arrives within ten seconds.
test('what comes to a new owner in time is not looked up', async () => {
  const opened = await openDistributedLoad();
  const { stores } = opened;
  const first = opened.load('one');
  await opened.put(0, events(0, 20), [], TAKEN_OVER_MS - 60 * SECOND_MS);
  await opened.put(0, events(20, 50), [], TAKEN_OVER_MS);
  await counted(opened, 50, PATIENCE);
  await first.close();
  const query = vi.fn(stores.warehouse.query);
  const { reader, deadLetters } = await opened.topic.open();
  const warehouse = { ...stores.warehouse, query } as typeof stores.warehouse;
  start(stores, { warehouse, reader, distributed: { deadLetters } }, { owner: 'two' });
  await opened.put(0, events(50, 80), [], TAKEN_OVER_MS + SECOND_MS);
  await counted(opened, 80, PATIENCE);
  expect(query.mock.calls.filter(([{ sql }]) => sql.includes('event_ids'))).toEqual([]);
});
