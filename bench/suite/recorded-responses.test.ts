import { describe, expect, it } from 'vitest';
import { stalledMs, watchStalls } from './generator-stalls.ts';
import { generatorFigures } from './recorded-responses.ts';

const spans = [
  { fromMs: 10, untilMs: 14 },
  { fromMs: 20, untilMs: 21 },
];

describe('stalls of the generator', () => {
  it.each([
    [{ fromMs: 0, untilMs: 10 }, 0],
    [{ fromMs: 12, untilMs: 13 }, 1],
    [{ fromMs: 13, untilMs: 30 }, 2],
    [{ fromMs: 14, untilMs: 20 }, 0],
    [{ fromMs: 5, untilMs: 40 }, 5],
  ])('are in a response of %o for %d ms', (response, ms) => {
    expect(stalledMs(response, spans)).toBe(ms);
  });

  it('are seen where nothing else could run', async () => {
    const watched = watchStalls();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const until = performance.now() + 30;
    while (performance.now() < until);
    const [longest] = watched.stop().spans.sort((a, b) => b.untilMs - b.fromMs - (a.untilMs - a.fromMs));
    expect((longest?.untilMs ?? 0) - (longest?.fromMs ?? 0)).toBeGreaterThan(20);
  });

  it('are taken off each response, of all rounds', () => {
    const stalls = { spans, majorCollections: 1, minorCollections: 2, longestCollectionMs: 3 };
    const responses = [
      { fromMs: 8, untilMs: 15 },
      { fromMs: 15, untilMs: 19 },
    ];
    const round = { responses, stalls };
    expect(generatorFigures([round, round], 100)).toEqual({
      p99WithoutStallsMs: 4,
      stalledShare: 0.1,
      longestStallMs: 4,
      majorCollections: 2,
      minorCollections: 4,
      longestCollectionMs: 3,
    });
  });
});
