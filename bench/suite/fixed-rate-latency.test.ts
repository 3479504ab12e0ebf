import { describe, expect, it } from 'vitest';
import { fromWhenDue, judged, type LatencyFigures } from './fixed-rate-latency.ts';
import { GOALS, type Goal, verdict } from './goals.ts';

const FIGURES: LatencyFigures = {
  offeredPerSecond: 170_000,
  respondedPerSecond: 169_000,
  frames: { perSecond: 300, bytes: 135_000 },
  responseMs: { p99: 9 },
  bareFlushMs: { p99: 1.5 },
  generator: {
    p99WithoutStallsMs: 8.9,
    stalledShare: 0.0042,
    longestStallMs: 3.1,
    majorCollections: 0,
    minorCollections: 4,
    longestCollectionMs: 0.9,
  },
};

describe('a latency at a fixed rate', () => {
  it('is so many times the p99 of the bare flush, and says how long the generator stalled', () => {
    const found = judged(FIGURES, 0);
    expect(found).toMatchObject({ id: 'G3/170k', value: 6, by: 'p99' });
    expect(found).not.toHaveProperty('isVoid');
    expect(found.note).toContain(
      '8.9 ms without stalls of the generator, 0.42 % of the time, 3.1 ms at most',
    );
  });

  // Fault this catches: pauses of the generator's own garbage collector, called a p99 of the server.
  it('says nothing where stalls of the generator make the p99', () => {
    const generator = { ...FIGURES.generator, p99WithoutStallsMs: 8 };
    const found = judged({ ...FIGURES, generator }, 0);
    expect(found).toMatchObject({ value: 6, isVoid: true });
    expect(verdict(GOALS.find(({ id }) => id === 'G3/170k') as Goal, found)).toBe('void');
  });

  // Fault this catches: a p99 of the requests that a server too slow for the rate had time for.
  it('is not reached where requests were left over, or came slower than they were due', () => {
    const unreached = [judged(FIGURES, 1), judged({ ...FIGURES, respondedPerSecond: 160_000 }, 0)];
    for (const found of unreached) {
      expect(found).toMatchObject({ id: 'G3/170k', isNotReached: true });
      expect(found).not.toHaveProperty('value');
    }
    expect(unreached[1]?.note).toContain('160000 of 170000 events/s');
  });
});

describe('the times of a bare flush', () => {
  it('are its own while none waits for the one before', () => {
    expect(fromWhenDue([0.5, 1, 0.5], 2)).toEqual([0.5, 1, 0.5]);
  });

  // Fault this catches: one slow flush counted once, where all that were due meanwhile waited for it.
  it('count from when each was due', () => {
    expect(fromWhenDue([5, 1, 1, 1], 2)).toEqual([5, 4, 3, 2]);
  });
});
