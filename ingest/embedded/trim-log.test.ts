import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Transient } from '../../schemas/failures.ts';
import { startTrimming, type TrimDeps, trimLog } from './trim-log.ts';

const NOW_MS = 1_000_000;
const KEEP_MS = 1_000;

describe('the log is given up', () => {
  // Each goes red when its bound is taken out of the minimum.
  it.each([
    ['as far as it is old', { old: 100, covered: 500, settled: 500 }, 100],
    ['as far as the record file covers it', { old: 500, covered: 200, settled: 500 }, 200],
    ['as far as it is settled', { old: 500, covered: 500, settled: 300 }, 300],
    [
      'no further when Postgres has a later position',
      { old: 100, covered: 400, settled: 100, recorded: 900 },
      100,
    ],
  ])('%s', async (_, known, expected) => {
    const { deps, given } = logWith(known);
    await trimLog(deps, KEEP_MS);
    expect(given()).toBe(expected);
  });

  it('not while a repair holds it, and without a query when there is nothing to give up', async () => {
    const held = logWith({ old: 100, covered: 100, settled: 100 });
    held.deps.raiseKeptFrom = async () => undefined;
    await trimLog(held.deps, KEEP_MS);
    expect(held.given()).toBe(0);
    const recent = logWith({ old: 0, covered: 100, settled: 100 });
    recent.deps.raiseKeptFrom = () => Promise.reject(new Error('queried'));
    await trimLog(recent.deps, KEEP_MS);
  });
});

it('continues after a round that failed, and ends when it is closed', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { deps, given } = logWith({ old: 100, covered: 100, settled: 100 });
  const { raiseKeptFrom } = deps;
  deps.raiseKeptFrom = () => Promise.reject(new Transient('database_unavailable', 'Unavailable.'));
  const trimming = startTrimming(deps, KEEP_MS);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(given()).toBe(0);
  deps.raiseKeptFrom = raiseKeptFrom;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(given()).toBe(100);
  await trimming.close();
  expect(vi.getTimerCount()).toBe(0);
});

interface Known {
  old: number;
  covered: number;
  settled: number;
  /** The position that Postgres has already. */
  recorded?: number;
}

function logWith({ old, covered, settled, recorded = 0 }: Known): { deps: TrimDeps; given: () => number } {
  let start = 0;
  const deps: TrimDeps = {
    retention: {
      extent: () => ({ start, end: 1_000 }),
      writtenBefore: async (timeMs) => (timeMs === NOW_MS - KEEP_MS ? old : 0),
      trim: async (before) => {
        start = before;
      },
    },
    keys: { coveredUpTo: () => covered },
    raiseKeptFrom: async (before) => Math.max(recorded, Math.min(before, settled)),
    clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 },
    log: pino({ level: 'silent' }),
  };
  return { deps, given: () => start };
}
