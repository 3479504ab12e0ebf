import { expect, test } from 'vitest';
import { createMemoryPool } from '../../infra/platform/memory-pool.ts';
import type { EventLogReader, LogFrame } from '../../infra/ports/event-log.ts';
import { frameOf } from '../../tests/support/load-frames.ts';
import { linesWithout, readBlock } from './block.ts';
import { createBlockReader } from './block-reader.ts';

const LOG_ID = Buffer.alloc(16, 3);
const memory = createMemoryPool({ pieceBytes: 1_000, keptBytesMax: 10_000 });
const NO_LIMIT = { rowsMax: 1_000, bytesMax: 1_000_000 };

test('a block has whole frames up to its limit and the next one begins behind it', async () => {
  const reader = logOf([3, 3, 3, 3, 3]);
  const blockReader = createBlockReader({ reader, memory, partition: 0 }, 0, { ...NO_LIMIT, rowsMax: 5 });
  await blockReader.extend();
  expect(blockReader.isFull()).toBe(true);
  const first = blockReader.take();
  expect(first).toMatchObject({ lo: 0, eventCount: 6, throughMs: 2 });
  await blockReader.extend();
  const second = blockReader.take();
  expect(second).toMatchObject({ lo: first.hi, eventCount: 6, throughMs: 4 });
  await blockReader.extend();
  expect(blockReader.isFull()).toBe(false);
  expect(blockReader.take()).toMatchObject({ lo: second.hi, hi: await reader.durableEnd(0), eventCount: 3 });
  await blockReader.extend();
  expect(blockReader.isEmpty()).toBe(true);
});

test('bytes close a block too', async () => {
  const deps = { reader: logOf([1, 1, 1]), memory, partition: 0 };
  const blockReader = createBlockReader(deps, 0, { ...NO_LIMIT, bytesMax: 1 });
  await blockReader.extend();
  expect(blockReader.take().eventCount).toBe(1);
});

test('a frozen block is read again with the same bytes', async () => {
  const reader = logOf([2, 3, 4]);
  const block = await whole(reader);
  const again = await readBlock(reader, 0, block);
  expect(again.checksum).toBe(block.checksum);
  expect(linesWithout(again, [])).toEqual(linesWithout(block, []));
});

// Red when the checksum is not compared.
test('other bytes in the place of a frozen block are detected', async () => {
  const reader = logOf([2, 3, 4]);
  const { lo, hi, checksum } = await whole(reader);
  const other = logOf([2, 3, 4], 'x');
  await expect(readBlock(other, 0, { lo, hi, checksum })).rejects.toMatchObject({ code: 'range_changed' });
  await expect(readBlock(reader, 0, { lo, hi: hi + 1, checksum })).rejects.toMatchObject({
    code: 'range_changed',
  });
});

test('a frame of another log is not read', async () => {
  const reader = { ...logOf([1]), logId: Buffer.alloc(16, 4) };
  await expect(whole(reader)).rejects.toMatchObject({ code: 'frame_of_other_log' });
});

test('dropped lines are left out by their number over all frames', async () => {
  const reader = logOf([2, 3]);
  const block = await readBlock(reader, 0, await whole(reader));
  const all = linesWithout(block, []).toString().split('\n').slice(0, -1);
  expect(linesWithout(block, [1, 4]).toString()).toBe(`${[all[0], all[2], all[3]].join('\n')}\n`);
  expect(linesWithout(block, [0, 1, 2, 3, 4])).toHaveLength(0);
});

// Red when small frames, each in a block of the log of its own, fill memory without a bound.
test('what pads frames on the log counts as well', async () => {
  const deps = { reader: logOf([1, 1, 1], 'cus_a', 4_000), memory, partition: 0 };
  const blockReader = createBlockReader(deps, 0, { ...NO_LIMIT, bytesMax: 5_000 });
  await blockReader.extend();
  expect(blockReader.take().eventCount).toBe(2);
});

async function whole(reader: EventLogReader) {
  const blockReader = createBlockReader({ reader, memory, partition: 0 }, 0, NO_LIMIT);
  await blockReader.extend();
  return blockReader.take();
}

/** A log in memory with frames of so many events; the nth is committed at n. */
function logOf(counts: number[], customerId = 'cus_a', paddingBytes = 0): EventLogReader {
  const frames: LogFrame[] = [];
  counts.forEach((count, at) => {
    const events = Array.from({ length: count }, (_, number) => ({ id: `${at} ${number}`, customerId }));
    const bytes = Buffer.concat(frameOf(LOG_ID, events, at + 1));
    const position = frames.at(-1)?.next ?? 0;
    frames.push({ position, next: position + bytes.length + paddingBytes, bytes });
  });
  return {
    logId: LOG_ID,
    partitions: 1,
    durableEnds: async () => [frames.at(-1)?.next ?? 0],
    start: async () => 0,
    durableEnd: async () => frames.at(-1)?.next ?? 0,
    read: async (_, from) => frames.filter(({ position }) => position >= from),
    close: async () => undefined,
  };
}
