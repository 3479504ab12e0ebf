import { describe, expect, it } from 'vitest';
import { localMs, zoneOffsets } from './zone-offsets.ts';

/*
 * Mutants this suite catches: steps of four weeks (miss the summer time of Recife in 2000); a change taken a
 * second late; an offset by name taken for a zone.
 */
const EVER = { fromMs: 0, toMs: Date.UTC(2100, 0, 1) };

describe('the offsets of a time zone', () => {
  it.each([
    ['Europe/Berlin', '2026-03-29T00:59:59Z', '2026-03-29T01:59:59Z'],
    ['Europe/Berlin', '2026-03-29T01:00:00Z', '2026-03-29T03:00:00Z'],
    ['Europe/Berlin', '2026-10-25T01:00:00Z', '2026-10-25T02:00:00Z'],
    ['Asia/Kolkata', '2026-01-01T00:00:00Z', '2026-01-01T05:30:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T15:00:00Z', '2026-04-05T01:30:00Z'],
    ['America/Argentina/Tucuman', '2004-06-05T12:00:00Z', '2004-06-05T08:00:00Z'],
    ['America/Argentina/Tucuman', '2004-06-20T12:00:00Z', '2004-06-20T09:00:00Z'],
    ['America/Recife', '2000-10-07T12:00:00Z', '2000-10-07T09:00:00Z'],
    ['America/Recife', '2000-10-09T12:00:00Z', '2000-10-09T10:00:00Z'],
    ['America/Recife', '2000-10-14T12:00:00Z', '2000-10-14T10:00:00Z'],
    ['America/Recife', '2000-10-16T12:00:00Z', '2000-10-16T09:00:00Z'],
    ['UTC', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
  ])('are those that clocks in %s show at %s', (zone, at, shown) => {
    const span = { fromMs: Date.parse(at), toMs: Date.parse(at) + 1 };
    const offsets = zoneOffsets(zone, span) ?? [];
    expect(new Date(localMs(offsets, Date.parse(at))).toISOString()).toBe(new Date(shown).toISOString());
  });

  it.each(['', 'Berlin', 'Europe/Nowhere', '+01:00', 'Europe/Berlin\u0000', 'a'.repeat(64)])(
    'do not exist for %j',
    (name) => expect(zoneOffsets(name, EVER)).toBeUndefined(),
  );

  it('are the same for a zone under another spelling, and begin with the span', () => {
    const offsets = zoneOffsets('Europe/Berlin', EVER) ?? [];
    expect(zoneOffsets('europe/berlin', EVER)).toEqual(offsets);
    expect(offsets[0]).toEqual({ fromMs: 0, offsetMs: 3_600_000 });
    // Two a year since 1980.
    expect(offsets.filter(({ fromMs }) => fromMs < EVER.toMs)).toHaveLength(1 + 2 * 120);
    expect(offsets.every(({ offsetMs }, at) => offsetMs !== offsets[at - 1]?.offsetMs)).toBe(true);
  });

  // The shortest summer times, and zones whose clocks change for Ramadan.
  it.each(['America/Noronha', 'America/Argentina/Tucuman', 'Asia/Gaza', 'Africa/Casablanca', 'Africa/Cairo'])(
    'are those of each noon in %s from 1998 to 2012',
    (zone) => {
      const [fromMs, toMs] = [Date.UTC(1998, 0, 1, 12), Date.UTC(2012, 0, 1)];
      const offsets = zoneOffsets(zone, { fromMs, toMs }) ?? [];
      const format = new Intl.DateTimeFormat('sv', { timeZone: zone, timeStyle: 'short' });
      const wrong: string[] = [];
      for (let ms = fromMs; ms < toMs; ms += 86_400_000) {
        const shown = new Date(localMs(offsets, ms)).toISOString().slice(11, 16);
        if (format.format(ms) !== shown) wrong.push(new Date(ms).toISOString());
      }
      expect(wrong).toEqual([]);
    },
  );
});
