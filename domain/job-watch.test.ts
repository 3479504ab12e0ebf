import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createJobWatch } from './job-watch.ts';

const lines: string[] = [];
const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
const NOW_MS = Date.UTC(2026, 10, 25, 9);
const DAYS_40_MS = 40 * 86_400_000;

/** Two jobs, in the hands of the test: so long passes, and so often they came to their end. */
function watchUnderTest() {
  lines.length = 0;
  const clock = { at: 0, wall: NOW_MS, nowMs: () => clock.wall + clock.at, monotonicMs: () => clock.at };
  const watch = createJobWatch({ clock, log }, [
    { job: 'clock', everyMs: 2_000, stops: 'trials do not end' },
    { job: 'sweep', everyMs: 600_000, stops: 'old rows stay' },
  ]);
  return {
    clock,
    stalled: watch.stalled,
    pass(ms: number, runs: Record<string, number>) {
      clock.at += ms;
      watch.saw(new Map(Object.entries(runs)));
      return watch.stalled();
    },
  };
}

// Red when a job that no process does is not reported: readyz reports ready, and trials do not end.
it('a job that makes no progress for a minute is named, with since when and what stops', () => {
  const { pass } = watchUnderTest();
  expect(pass(50_000, { clock: 7, sweep: 1 })).toBeUndefined();
  const notified = pass(20_000, { clock: 7, sweep: 1 });
  expect(notified).toMatch(
    /^the job clock has made no progress since 2026-11-25T09:00:00\.000Z: trials do not end\./,
  );
  expect(notified).not.toContain('sweep');
  pass(5_000, { clock: 7, sweep: 1 });
  expect(lines.map((line) => JSON.parse(line).job)).toEqual(['clock']);
});

it('a job that any process does is not named, and one that runs again is named no more', () => {
  const { pass } = watchUnderTest();
  for (let runs = 1; runs < 100; runs++) expect(pass(5_000, { clock: runs, sweep: 1 })).toBeUndefined();
  expect(pass(61_000, { clock: 99, sweep: 1 })).toContain('the job clock');
  expect(pass(5_000, { clock: 100, sweep: 1 })).toBeUndefined();
});

it('a job that looks seldom may be still for five of its looks, and one that never was done is named', () => {
  const { pass } = watchUnderTest();
  expect(pass(2_999_000, { clock: 1 })).not.toContain('sweep');
  expect(pass(2_000, { clock: 2 })).toContain('the job sweep');
});

// Red when wall-clock times are compared: a stalled job would be reported after 40 days.
it('a clock that jumps neither hides a stalled job nor names a running one', () => {
  const { pass, clock } = watchUnderTest();
  clock.wall += DAYS_40_MS;
  expect(pass(5_000, { clock: 1, sweep: 1 })).toBeUndefined();
  expect(pass(5_000, { clock: 2, sweep: 1 })).toBeUndefined();
  clock.wall -= DAYS_40_MS;
  expect(pass(61_000, { clock: 2, sweep: 1 })).toContain('since 2026-11-25T09:00:10.000Z');
});

it('while nothing is known, nothing is named', () => {
  const { clock, stalled } = watchUnderTest();
  clock.at += 3_600_000;
  expect(stalled()).toBeUndefined();
});
