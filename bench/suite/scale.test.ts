import { describe, expect, it } from 'vitest';
import { judgedEdge } from './edge-counter.ts';
import { judgedGrowth, nearest, shortfalls } from './scale.ts';

const HELD = { requests: 9, notSent: 0, repeated: {}, givenUp: 0, lastFailure: undefined };

describe('a rate', () => {
  it('is held when each request received its response at once', () => {
    expect(shortfalls(HELD)).toEqual([]);
  });

  // Fault this catches: a run at 80 % "without errors" that sent half of what it was to send.
  it('is not held when requests were not sent, repeated or left without a response', () => {
    expect(shortfalls({ ...HELD, notSent: 3, repeated: { 503: 2 }, givenUp: 1 })).toEqual([
      '2 requests were repeated: 503',
      '3 requests could not be sent while the run lasted',
      '1 requests received no response',
    ]);
  });
});

describe('growth', () => {
  const point = (events: number, p50: number) => {
    return { events, ingestCpuMicros: 2, counterMs: { p50: 3 }, breakdownMs: { p50 } };
  };

  it('is the breakdown of the largest size against that of the smallest', () => {
    const found = judgedGrowth([point(1_005_000, 96), point(10_100_000, 550), point(50_100_000, 2_683)]);
    expect(found).toMatchObject({ id: 'G15', value: 27.95, isSmaller: false });
  });

  // Fault this catches: five times the events, and the target of fifty times reached.
  it('is one of a smaller form where it spans less, and none of one size', () => {
    expect(judgedGrowth([point(1_000_000, 96), point(5_000_000, 100)])).toMatchObject({ isSmaller: true });
    expect(judgedGrowth([point(10_000_000, 96), point(50_000_000, 99)])).toMatchObject({ isSmaller: true });
    expect(judgedGrowth([point(1_000_000, 96)])).not.toHaveProperty('value');
  });

  it('has its counter with an edge hour at the size that is next to ten million', () => {
    expect(nearest([1e6, 10e6, 50e6], 10e6)).toBe(10e6);
    expect(nearest([1e6, 5e6], 10e6)).toBe(5e6);
    const edge = { events: 5e6, inTheHour: 5e4, counterMs: { p50: 40, p99: 50, samples: 9 } };
    expect(judgedEdge(edge)).toMatchObject({ id: 'G16', value: 40, isSmaller: true });
    expect(judgedEdge({ ...edge, events: 10.1e6 })).toMatchObject({ isSmaller: false });
  });
});
