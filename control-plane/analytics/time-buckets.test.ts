import { describe, expect, it } from 'vitest';
import { GRANULARITIES, type Granularity } from '../../schemas/resources/meter-usage.ts';
import { bucketStarts } from './time-buckets.ts';
import { zoneOffsets } from './zone-offsets.ts';

/*
 * Mutants this suite catches: days of 24 hours; the second midnight of a day with two; the two hours of one
 * name as one; a week from Sunday; hours of UTC in a zone of half hours.
 */
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

function startsOf(zone: string, granularity: Granularity, [from, to]: [string, string], max = 5_000) {
  const span = { fromMs: Date.parse(from), toMs: Date.parse(to) };
  return bucketStarts(span, granularity, { offsets: zoneOffsets(zone, span) ?? [], max });
}

const lengths = (starts: readonly number[] = [], to: string) =>
  starts.map((start, at) => ((starts[at + 1] ?? Date.parse(to)) - start) / HOUR_MS);

describe('the buckets of local time', () => {
  it.each([
    ['Europe/Berlin', ['2026-03-27T23:00:00Z', '2026-03-30T22:00:00Z'], [24, 23, 24]],
    ['Europe/Berlin', ['2026-10-23T22:00:00Z', '2026-10-26T23:00:00Z'], [24, 25, 24]],
    ['Asia/Kathmandu', ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'], [18.25, 5.75]],
    // No midnight on that day: clocks went from 00:00 to 01:00.
    ['America/Sao_Paulo', ['2018-11-03T03:00:00Z', '2018-11-05T02:00:00Z'], [24, 23]],
    // Two of them: clocks went from 00:00 back to 23:00.
    ['America/Sao_Paulo', ['2018-02-17T02:00:00Z', '2018-02-19T03:00:00Z'], [25, 24]],
    // A date that no clock showed.
    ['Pacific/Apia', ['2011-12-29T10:00:00Z', '2012-01-01T10:00:00Z'], [24, 24, 24]],
  ] as const)('in %s of %j are days of %j hours', (zone, [from, to], expected) => {
    expect(lengths(startsOf(zone, 'day', [from, to]), to)).toEqual(expected);
  });

  it.each([
    ['Europe/Berlin', '2026-10-25T00:00:00Z', [0, 60, 120]],
    ['Asia/Kolkata', '2026-01-01T00:00:00Z', [0, 30, 90, 150]],
    // Half an hour back: the hour before is one of ninety minutes.
    ['Australia/Lord_Howe', '2026-04-04T14:00:00Z', [0, 90, 150]],
    // Half an hour ahead, over the full hour.
    ['Australia/Lord_Howe', '2026-10-03T14:30:00Z', [0, 60, 90, 150]],
  ] as const)('in %s from %s on are hours that begin after %j minutes', (zone, from, expected) => {
    const to = new Date(Date.parse(from) + 3 * HOUR_MS).toISOString();
    const starts = startsOf(zone, 'hour', [from, to]) ?? [];
    expect(starts.map((ms) => (ms - Date.parse(from)) / MINUTE_MS)).toEqual(expected);
  });

  it('begin a week on Monday and a month on its first', () => {
    const span: [string, string] = ['2026-10-01T00:00:00Z', '2026-12-02T00:00:00Z'];
    const local = (granularity: Granularity) =>
      startsOf('Europe/Berlin', granularity, span)?.map((ms) =>
        new Date(ms).toLocaleString('sv', { timeZone: 'Europe/Berlin', weekday: 'short' }),
      );
    expect(
      local('week')
        ?.slice(1)
        .every((text) => /^mån/.test(text)),
    ).toBe(true);
    expect(startsOf('Europe/Berlin', 'month', span)?.map((ms) => new Date(ms).toISOString())).toEqual([
      '2026-10-01T00:00:00.000Z',
      '2026-10-31T23:00:00.000Z',
      '2026-11-30T23:00:00.000Z',
    ]);
  });

  /** What a clock shows, by the same rules, minute by minute. */
  it.each(['Europe/Berlin', 'America/St_Johns', 'Africa/Casablanca', 'Asia/Kathmandu', 'Africa/Cairo'])(
    'of a year in %s begin where the local clock shows a new one',
    (zone) => {
      const span: [string, string] = ['2024-01-01T00:00:00Z', '2025-01-01T00:00:00Z'];
      const format = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short' });
      const seen = [Date.parse(span[0])];
      let day = format.format(seen[0]);
      for (let ms = Date.parse(span[0]); ms < Date.parse(span[1]); ms += 15 * MINUTE_MS) {
        const now = format.format(ms);
        if (now > day) seen.push(ms);
        if (now > day) day = now;
      }
      expect(startsOf(zone, 'day', span)).toEqual(seen);
    },
  );

  it.each(GRANULARITIES)('by %s are ascending, and bounded', (granularity) => {
    const span: [string, string] = ['2026-01-01T00:00:00Z', '2026-03-01T00:00:00Z'];
    const starts = startsOf('America/New_York', granularity, span) ?? [];
    expect(starts.every((start, at) => at === 0 || start > (starts[at - 1] ?? 0))).toBe(true);
    expect(startsOf('America/New_York', granularity, span, starts.length)).toEqual(starts);
    expect(startsOf('America/New_York', granularity, span, starts.length - 1)).toBeUndefined();
  });
});
