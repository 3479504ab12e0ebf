import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDurableSamples } from './durable-samples.ts';

// Mutants this suite catches: the bound left out; two close samples merged into the earlier; `<` for `<=` in
// loaded.
describe('durable samples', () => {
  it('never return a later time than one with every sample, and hardly an earlier one', () => {
    const step = fc.record({ ms: fc.integer({ min: 0, max: 60 }), bytes: fc.integer({ min: 0, max: 5 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.nat(120), (steps, position) => {
        const samples = createDurableSamples();
        const all: Array<{ atMs: number; end: number }> = [];
        let [atMs, end] = [0, 0];
        for (const { ms, bytes } of steps) {
          atMs += ms;
          end += bytes;
          all.push({ atMs, end });
          samples.add({ atMs, end });
        }
        samples.loaded(position);
        const exact = all.findLast((sample) => sample.end <= position)?.atMs ?? 0;
        const latest = samples.latestLoadedMs() ?? 0;
        expect(latest).toBeLessThanOrEqual(exact);
        const isSparse = steps.every(({ ms }) => ms >= 20);
        if (isSparse) expect(latest).toBe(exact);
      }),
    );
  });

  it('stay bounded while nothing is loaded, and keep the latest', () => {
    const samples = createDurableSamples();
    for (let at = 1; at <= 10_000; at += 1) samples.add({ atMs: at * 100, end: at });
    samples.loaded(5_000);
    expect(samples.latestLoadedMs()).toBeUndefined(); // dropped: the range's own time is used
    samples.loaded(9_000);
    expect(samples.latestLoadedMs()).toBe(900_000);
  });
});
