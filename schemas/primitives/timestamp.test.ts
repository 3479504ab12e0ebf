import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timestampMs, timestampText } from './timestamp.ts';
import { timestampFault } from './timestamp-fault.ts';

// Mutants this suite catches: the calendar check left out (30 February); the offset's sign turned round.
describe('a timestamp', () => {
  it('reads what it writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(1970, 0), max: Date.UTC(9999, 11) }), (ms) => {
        expect(timestampMs(timestampText(ms))).toBe(ms);
      }),
    );
  });

  it('is the same time with any offset', () => {
    const utc = Date.parse('2026-03-01T00:30:00.120Z');
    for (const text of [
      '2026-03-01T00:30:00.12Z',
      '2026-02-28t19:00:00.120-05:30',
      '2026-03-01T14:30:00.120999+14:00',
      '2026-03-01T00:30:00.120z',
      '2026-03-01 00:30:00.120123+0000',
      '2026-02-28 19:00:00.12-0530',
      '2026-03-01T00:30:00.120999999Z',
    ]) {
      expect(timestampMs(text)).toBe(utc);
    }
  });

  it.each(['2026-11-01T00:00Z', '2026-11-01T01:30+01:30', '2026-10-31 23:00-0100', '2026-11-01t00:00z'])(
    'may have no seconds: %s',
    (text) => {
      expect(timestampMs(text)).toBe(Date.UTC(2026, 10, 1));
    },
  );

  it.each([
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00.Z',
    '2026-01-01',
    '20260101T000000Z',
    '1767225600000',
    '',
    '2026-01-01T00:00.5Z',
    '2026-01-01T00Z',
    '2026-01-01_00:00:00Z',
    '2026-01-01T00:00:00 Z',
    '2026-01-01T00:00:00+00',
    '2026-01-01T00:00:00+000',
    '2026-01-01T00:00:00+00:0',
    '2026-01-01T00:00:00.1234567890Z',
    '2026-01-01T00:00:00 01:00',
  ])('is not %s', (text) => {
    expect(timestampMs(text)).toBeUndefined();
  });

  it.each([
    ['2026-11-01T00:00:00', 'has no offset from UTC'],
    ['2026-11-01', 'has no time of day'],
    ['2026-11-01_10:00:00Z', 'has no T between date and time'],
    ['2026-11-01T1000Z', 'has no time of day such as 12:30:00'],
    ['2026-11-01T10:00:00.Z', 'has a point without fraction digits'],
    ['2026-11-01T10:00:00.0123456789Z', 'has more than nine fraction digits'],
    ['2026-11-01T10:00:00 CET', 'ends with " CET", which is no offset from UTC'],
    ['2026-11-01T10:00:00+01', 'ends with "+01", which is no offset from UTC'],
    ['2026-11-01T10:00:00+24:00', 'has an offset from UTC beyond 23:59'],
    ['2026-02-30T10:00:00Z', 'names a day that does not exist'],
    ['2026-11-01T10:00:60Z', 'names a time of day that does not exist'],
    ['1767225600', 'is a number'],
    ['yesterday', 'does not begin with a date such as 2026-11-01'],
  ])('%s is rejected with the fault, and the right form', (text, fault) => {
    const message = timestampFault(text);
    expect(message).toContain(fault);
    expect(timestampMs(/form is (\S+)$/.exec(message ?? '')?.[1] ?? '')).toBeDefined();
  });

  /**
   * Red when the two readers differ about any form: a fault without a reason, or a reason without a fault.
   */
  it('has a fault exactly where it is not read', () => {
    const pieces = fc.constantFrom(...'0 1 9 - : . , T t Z z + 00 +0000 -01:00 5Z 2026'.split(' '), ' ', '');
    const sound = fc.constantFrom(
      '2026-11-01T00:00:00.123Z',
      '2024-02-29 23:59-0130',
      '2026-12-31t10:00:00+01:00',
    );
    const edits = fc.array(fc.tuple(fc.nat(34), fc.nat(3), pieces), { maxLength: 2 });
    fc.assert(
      fc.property(sound, edits, (text, changes) => {
        const changed = changes.reduce<string>(
          (now, [at, cut, piece]) => now.slice(0, at) + piece + now.slice(at + cut),
          text,
        );
        expect([changed, timestampFault(changed) === undefined]).toEqual([
          changed,
          timestampMs(changed) !== undefined,
        ]);
      }),
      { numRuns: 20_000, seed: 20261125 },
    );
  });
});
