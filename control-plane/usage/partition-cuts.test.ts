import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPartitionCuts } from './partition-cuts.ts';

test('what is loaded already is reached at once, the rest when all partitions have come there', async () => {
  let ends = [1, 1];
  const cuts = createPartitionCuts(async () => ends);
  expect(cuts.loaded([]).hi).toBe(0);
  cuts.loaded([0, 1].map((partition) => ({ partition, hi: 1 })));
  expect(await cuts.durableEnd()).toBe(0);
  ends = [2, 3];
  const cut = await cuts.durableEnd();
  expect(cuts.recordsLeft()).toBe(3);
  expect(cuts.loadedBy({ logId: '', partition: 0, hi: 9, throughMs: 5 })).toEqual({ hi: 0, throughMs: 0 });
  expect(cuts.loadedBy({ logId: '', partition: 1, hi: 2, throughMs: 5 }).hi).toBeLessThan(cut);
  expect(cuts.recordsLeft()).toBe(1);
  expect(cuts.loadedBy({ logId: '', partition: 1, hi: 3, throughMs: 5 }).hi).toBe(cut);
  expect(cuts.recordsLeft()).toBe(0);
});

// Red when the sum of the positions is compared, when a partition is left out, when a number decreases.
test('a cut is never reached before each partition is loaded up to it', async () => {
  const step = fc.record({ partition: fc.nat(2), by: fc.integer({ min: 1, max: 3 }), loads: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const [ends, loaded] = [
        [0, 0, 0],
        [0, 0, 0],
      ];
      const cuts = createPartitionCuts(async () => [...ends]);
      const taken: Array<{ number: number; ends: number[] }> = [];
      let reached = 0;
      for (const { partition, by, loads } of steps) {
        const to = loads ? loaded : ends;
        to[partition] = loads
          ? Math.min(ends[partition] ?? 0, (loaded[partition] ?? 0) + by)
          : (ends[partition] ?? 0) + by;
        if (loads) {
          const { hi } = cuts.loaded([{ partition, hi: loaded[partition] ?? 0 }]);
          expect(hi).toBeGreaterThanOrEqual(reached);
          reached = hi;
        } else taken.push({ number: await cuts.durableEnd(), ends: [...ends] });
        for (const cut of taken) {
          const isLoaded = cut.ends.every((end, at) => end <= (loaded[at] ?? 0));
          if (cut.number <= reached) expect(isLoaded).toBe(true);
          else expect(isLoaded).toBe(false);
        }
      }
    }),
  );
});
