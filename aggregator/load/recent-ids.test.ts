import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FRAME_EVENTS_MAX } from '../../schemas/stored/frame.ts';
import { RECORD_BYTES } from '../../schemas/stored/record.ts';
import { AGGREGATOR_DEFAULTS, DISTRIBUTED_DEFAULTS } from '../aggregator-options.ts';
import { type Block, emptyBlock } from './block.ts';
import { createRecentIds } from './recent-ids.ts';

const NOW_MS = 1_200_000;

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

// Red when only a part of an id is compared, and when a block's own ids are not kept as it is read.
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
        expect(recentIds.filter(blockOf([ids]), NOW_MS)).toEqual(expected);
      }
    }),
  );
});

// Red when a filter forgets within a block: the warehouse has neither of two events that one block has.
test('two of one block are always seen: it knows more than the largest block', () => {
  const { rowsMax } = AGGREGATOR_DEFAULTS;
  for (const { generationMax } of [AGGREGATOR_DEFAULTS, DISTRIBUTED_DEFAULTS]) {
    expect(generationMax).toBeGreaterThanOrEqual(rowsMax + FRAME_EVENTS_MAX);
  }
});

test('numbers count over all frames of a block', () => {
  const [a, b, c] = [1, 2, 3].map((byte) => Buffer.alloc(16, byte)) as [Buffer, Buffer, Buffer];
  expect(createRecentIds(10).filter(blockOf([[a, b], [c, a], [b]]), NOW_MS)).toEqual([3, 4]);
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
  expect(recentIds.filter(blockOf([all]), NOW_MS)).toEqual([]);
  expect(recentIds.filter(blockOf([all.slice(-100)]), NOW_MS)).toHaveLength(100);
  // The oldest were forgotten, or memory would have no bound.
  expect(recentIds.filter(blockOf([all.slice(0, 50)]), NOW_MS)).toEqual([]);
});

// Red when an id that comes again is forgotten with its first one.
test('an id that comes again is known as long as if it had come then', () => {
  const recentIds = createRecentIds(2);
  recentIds.filter(blockOf([numbered(1, 2)]), NOW_MS);
  expect(recentIds.filter(blockOf([numbered(1)]), NOW_MS)).toEqual([0]);
  recentIds.filter(blockOf([numbered(3)]), NOW_MS);
  expect(recentIds.filter(blockOf([numbered(1)]), NOW_MS)).toEqual([0]);
});

// Red when the time is that of the ids that are still known, and when a clock that is ahead is trusted.
test('it knows up to when it has forgotten', () => {
  const recentIds = createRecentIds(2);
  const at = (committedAtMs: number, ...numbers: number[]) =>
    recentIds.filter(blockOf([numbered(...numbers)], committedAtMs), NOW_MS);
  at(1_000_000, 1, 2);
  at(1_060_000, 3);
  expect(recentIds.mayHaveForgotten(0)).toBe(false);
  at(1_060_000, 4);
  expect([1_010_000, 1_010_001].map(recentIds.mayHaveForgotten)).toEqual([true, false]);
  at(NOW_MS + 3_600_000, 5, 6, 7, 8);
  expect([NOW_MS + 10_000, NOW_MS + 10_001].map(recentIds.mayHaveForgotten)).toEqual([true, false]);
});

test('what others saw before is forgotten from the start', () => {
  const recentIds = createRecentIds(2, 1_000_000);
  expect([1_010_000, 1_010_001].map(recentIds.mayHaveForgotten)).toEqual([true, false]);
});

function numbered(...numbers: number[]): Buffer[] {
  return numbers.map((number) => Buffer.alloc(16, number));
}

function blockOf(frames: Buffer[][], committedAtMs = 0): Block {
  return {
    ...emptyBlock(0),
    frames: frames.map((ids) => ({
      logId: Buffer.alloc(16),
      committedAtMs,
      eventCount: ids.length,
      touched: [],
      // One byte off, as records may be in a frame.
      records: Buffer.concat([Buffer.alloc(1), ...ids.map(recordOf)]).subarray(1),
      numbers: undefined,
      recheck: [],
      lines: Buffer.alloc(0),
      bytes: Buffer.alloc(0),
    })),
  };
}

function recordOf(id: Buffer): Buffer {
  return Buffer.concat([id, Buffer.alloc(RECORD_BYTES - id.length, 5)]);
}
