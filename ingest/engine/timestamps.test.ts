import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isoText, parseTimestamp } from './timestamps.ts';

const FIRST_MS = Date.parse('0000-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');
const moments = fc.integer({ min: FIRST_MS, max: LAST_MS });

/** Red when any part of the calendar is wrong: months, leap years, centuries, the sign of offsets. */
test('a timestamp with any offset is the same moment as Date reads', () => {
  const offsets = fc.record({ sign: fc.constantFrom('+', '-'), hours: fc.nat(23), minutes: fc.nat(59) });
  fc.assert(
    fc.property(moments, offsets, (ms, { sign, hours, minutes }) => {
      const offset = `${sign}${two(hours)}:${two(minutes)}`;
      const text = new Date(ms).toISOString();
      expect(parseTimestamp(text)).toBe(ms);
      expect(parseTimestamp(text.toLowerCase())).toBe(ms);
      expect(parseTimestamp(text.replace('Z', offset))).toBe(Date.parse(text.replace('Z', offset)));
    }),
    { numRuns: 10_000, seed: 20261121 },
  );
});

test('every day of every kind of year is read, and no day that is none', () => {
  for (const year of [
    '0000',
    '0004',
    '0100',
    '1900',
    '1970',
    '2000',
    '2024',
    '2026',
    '2100',
    '2400',
    '9999',
  ]) {
    for (let month = 0; month <= 13; month++) {
      for (let day = 0; day <= 32; day++) {
        const text = `${year}-${two(month)}-${two(day)}T12:30:45Z`;
        expect(parseTimestamp(text), text).toBe(dateOracle(text));
      }
    }
  }
});

test('digits beyond milliseconds are cut off', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9), { minLength: 1, maxLength: 14 }), (fraction) => {
      const milliseconds = Number(fraction.concat(0, 0).slice(0, 3).join(''));
      expect(parseTimestamp(`1970-01-01T00:00:00.${fraction.join('')}Z`)).toBe(milliseconds);
    }),
  );
});

test('any other text is no timestamp', () => {
  const nearly = fc
    .tuple(moments, fc.nat(23), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }))
    .map(([ms, at, character]) => {
      const text = new Date(ms).toISOString();
      return text.slice(0, at) + character + text.slice(at + 1);
    });
  const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
  fc.assert(
    fc.property(fc.oneof(nearly, fc.string()), (text) => {
      const parsed = parseTimestamp(text);
      expect(parsed).toBe(RFC_3339.test(text) ? dateOracle(text) : undefined);
    }),
    { numRuns: 10_000, seed: 20261121 },
  );
});

test('a moment is written as Date writes it, also after another one', () => {
  fc.assert(
    fc.property(moments, (ms) => {
      expect(isoText(ms)).toBe(new Date(ms).toISOString());
    }),
  );
  expect(isoText(5)).toBe('1970-01-01T00:00:00.005Z');
  expect(isoText(5)).toBe('1970-01-01T00:00:00.005Z');
});

/** Date takes 24:00 and turns 31 November into 1 December: a text must come back as it went in. */
function dateOracle(text: string): number | undefined {
  const ms = Date.parse(text.toUpperCase());
  const local = /^(.{19})(?:\.\d+)?(?:Z|([+-])(\d\d):(\d\d))$/i.exec(text);
  if (Number.isNaN(ms) || !local) return undefined;
  const offsetMs = (Number(local[3] ?? 0) * 60 + Number(local[4] ?? 0)) * 60_000;
  const shifted = new Date(ms + (local[2] === '-' ? -offsetMs : offsetMs)).toISOString();
  return shifted.slice(0, 19) === text.slice(0, 19).toUpperCase() ? ms : undefined;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
