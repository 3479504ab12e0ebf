import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timestampMs, timestampText } from './timestamp.ts';

// Breaks that turn it red: the calendar check left out (30 February); the offset's sign turned round.
describe('a timestamp', () => {
  it('reads what it writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(1970, 0), max: Date.UTC(9999, 11) }), (ms) => {
        expect(timestampMs(timestampText(ms))).toBe(ms);
      }),
    );
  });

  it('is the same moment with any offset', () => {
    const utc = Date.parse('2026-03-01T00:30:00.120Z');
    for (const text of [
      '2026-03-01T00:30:00.12Z',
      '2026-02-28t19:00:00.120-05:30',
      '2026-03-01T14:30:00.120999+14:00',
      '2026-03-01T00:30:00.120z',
    ]) {
      expect(timestampMs(text)).toBe(utc);
    }
  });

  it.each([
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00.Z',
    '2026-01-01',
    '20260101T000000Z',
    '1767225600000',
    '',
  ])('is not %s', (text) => {
    expect(timestampMs(text)).toBeUndefined();
  });
});
