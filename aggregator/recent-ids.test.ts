import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RECORD_BYTES } from '../schemas/frame.ts';
import { type Block, emptyBlock } from './block.ts';
import { createRecentIds } from './recent-ids.ts';

/**
 * Few different ids, so that they repeat, all of one first word, so that they crowd in one place of the
 * table.
 */
const crowded = fc.integer({ min: 1, max: 40 }).map((number) => {
  const id = Buffer.alloc(16, 7);
  id.writeUInt32LE(number, 12);
  return id;
});
const spread = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes));
const blocks = fc.array(fc.array(fc.oneof(crowded, spread), { maxLength: 20 }), { maxLength: 20 });

// Red when only a part of an id is compared, and when a block's own ids are not remembered as it is read.
test('an id is seen the second time, within a block and across blocks', () => {
  fc.assert(
    fc.property(blocks, (given) => {
      const recentIds = createRecentIds(1_000);
      const known = new Set<string>();
      for (const ids of given) {
        const expected = ids.flatMap((id, number) => {
          const isNew = !known.has(id.toString('hex'));
          known.add(id.toString('hex'));
          return isNew ? [] : [number];
        });
        expect(recentIds.filter(blockOf([ids]))).toEqual(expected);
      }
    }),
  );
});

test('numbers count over all frames of a block', () => {
  const [a, b, c] = [1, 2, 3].map((byte) => Buffer.alloc(16, byte)) as [Buffer, Buffer, Buffer];
  expect(createRecentIds(10).filter(blockOf([[a, b], [c, a], [b]]))).toEqual([3, 4]);
});

test('the last ids are known however many came before, and the table does not grow', () => {
  const recentIds = createRecentIds(100);
  const idOf = (number: number) => {
    const id = Buffer.alloc(16);
    id.writeUInt32LE((number * 2_654_435_761) % 2 ** 32, 0);
    id.writeUInt32LE(number, 4);
    return id;
  };
  const all = Array.from({ length: 10_000 }, (_, at) => idOf(at + 1));
  expect(recentIds.filter(blockOf([all]))).toEqual([]);
  expect(recentIds.filter(blockOf([all.slice(-100)]))).toHaveLength(100);
  // The oldest were forgotten, or memory would have no bound.
  expect(recentIds.filter(blockOf([all.slice(0, 50)]))).toEqual([]);
});

test('an id that was remembered is seen', () => {
  const recentIds = createRecentIds(10);
  recentIds.remember(Buffer.alloc(16, 9));
  expect(recentIds.filter(blockOf([[Buffer.alloc(16, 9)]]))).toEqual([0]);
});

function blockOf(frames: Buffer[][]): Block {
  return {
    ...emptyBlock(0),
    frames: frames.map((ids) => ({
      logId: Buffer.alloc(16),
      committedAtMs: 0,
      eventCount: ids.length,
      touched: [],
      // One byte off, as records may stand in a frame.
      records: Buffer.concat([Buffer.alloc(1), ...ids.map(recordOf)]).subarray(1),
      recheck: [],
      lines: Buffer.alloc(0),
    })),
  };
}

function recordOf(id: Buffer): Buffer {
  return Buffer.concat([id, Buffer.alloc(RECORD_BYTES - id.length, 5)]);
}
