import { expect, test } from 'vitest';
import { alarms, events } from '../aggregator-under-test.ts';
import { counted, openDistributedLoad, PATIENCE } from './distributed-load-under-test.ts';

const MIB = 1024 * 1024;

// Red when all of a block is sent as one batch: the dead-letter topic rejects it again and again.
test('foreign records that fill a block become dead letters in pieces, and the load continues', async () => {
  const opened = await openDistributedLoad();
  for (let record = 0; record < 10; record++) await opened.topic.putForeign(0, String(record).repeat(MIB));
  await opened.put(0, events(0, 3));
  opened.load('one');
  await counted(opened, 3, PATIENCE);
  const letters = await opened.topic.letters();
  expect(letters.map(({ value }) => [value[0], value.length])).toEqual(
    Array.from({ length: 10 }, (_, record) => [String(record), MIB]),
  );
  expect(await alarms(opened.stores)).toEqual([]);
});

// Red when it is sent whole: with the headers for its place and the reason it is too large for the topic.
test('of a record too large for a dead letter the beginning is kept, with its size', async () => {
  const opened = await openDistributedLoad();
  const size = 8 * MIB - 100;
  await opened.topic.putForeign(0, 'x'.repeat(size));
  await opened.put(0, events(0, 3));
  opened.load('one');
  await counted(opened, 3, PATIENCE);
  const [letter] = await opened.topic.letters();
  expect(letter?.headers.reason).toMatch(new RegExp(`begin.*${size} bytes`));
  expect(letter?.value).toMatch(/^x+$/);
  expect(letter?.value.length).toBeLessThan(4 * MIB);
});
