import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { createProgress, type Progress } from './progress.ts';

/*
 * Mutants this suite catches: times left as they are when the clock is set back; moved to where it is found
 * and not to where it may have been; a read that was in progress kept; times of frames trusted from when the
 * clock was ahead, also once it is there again.
 */
const START_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;

interface Frame {
  committedAtMs: number;
  acknowledgedAtMs: number;
}

let wallMs: number;
let passedMs: number;
let frames: Frame[];
let loadedTo: number;
let progress: Progress;

beforeEach(begin);

function begin(): void {
  [wallMs, passedMs, frames, loadedTo] = [START_MS, 0, [], 0];
  progress = createProgress({
    durableEnd: async () => frames.length,
    clock: { nowMs: () => wallMs, monotonicMs: () => passedMs },
  });
}

function pass(ms: number): void {
  wallMs += ms;
  passedMs += ms;
}

/** Like ingest: its times do not decrease. */
function acknowledge(): void {
  const committedAtMs = Math.max(wallMs, frames.at(-1)?.committedAtMs ?? 0);
  frames.push({ committedAtMs, acknowledgedAtMs: wallMs });
}

function load(to = frames.length): void {
  loadedTo = Math.max(loadedTo, to);
  progress.advance({ hi: loadedTo, throughMs: frames[loadedTo - 1]?.committedAtMs ?? 0 });
}

const asOf = () => progress.asOfMs() - START_MS;

describe('asOf when the clock is set back', () => {
  it('is no later than what is acknowledged then and not counted yet', async () => {
    acknowledge();
    load();
    pass(50);
    await progress.look();
    expect(asOf()).toBe(50);
    wallMs -= HOUR_MS;
    pass(30);
    acknowledge();
    pass(1_000);
    expect(asOf()).toBe(50 - HOUR_MS);
    await progress.look();
    load();
    expect(asOf()).toBe(1_080 - HOUR_MS);
  });

  it('is not the time of a frame written before, also once the clock has reached it again', async () => {
    load();
    pass(HOUR_MS);
    acknowledge();
    await progress.look();
    wallMs -= HOUR_MS;
    acknowledge();
    load(1);
    expect(asOf()).toBe(0);
    pass(2 * HOUR_MS);
    load(1);
    expect(asOf()).toBe(0);
    acknowledge();
    load();
    expect(asOf()).toBe(2 * HOUR_MS);
  });

  it('is not taken from a read that was in progress', async () => {
    const looked = progress.look();
    wallMs -= HOUR_MS;
    progress.asOfMs();
    await looked;
    expect(progress.asOfMs()).toBe(0);
  });

  it('is not ahead after a start either', () => {
    frames.push({ committedAtMs: START_MS + HOUR_MS, acknowledgedAtMs: START_MS + HOUR_MS });
    load();
    expect(progress.asOfMs()).toBe(0);
  });
});

/** Runs between two readings of the clock, which is set at most once in between. */
const turn = fc.record({
  beforeMs: fc.nat(60),
  setByMs: fc.oneof(
    fc.constant(0),
    fc.integer({ min: -30, max: 30 }).map((tens) => tens * 10),
  ),
  isAcknowledged: fc.boolean(),
  afterMs: fc.nat(60),
  what: fc.constantFrom('look', 'begin a look', 'load', 'request'),
  to: fc.nat(),
});

it('everything acknowledged before asOf is counted, however the clock is set', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 40 }), async (turns) => {
      begin();
      let looked: Promise<number> | undefined;
      for (const { beforeMs, setByMs, isAcknowledged, afterMs, what, to } of turns) {
        pass(beforeMs);
        wallMs += setByMs;
        if (isAcknowledged) acknowledge();
        pass(afterMs);
        if (what === 'load') load(to % (frames.length + 1));
        else if (what !== 'request') looked = progress.look();
        if (what === 'look') await looked;
        const late = frames.slice(loadedTo).map(({ acknowledgedAtMs }) => acknowledgedAtMs);
        expect(progress.asOfMs()).toBeLessThanOrEqual(Math.min(...late, wallMs));
      }
      await looked;
    }),
  );
});
