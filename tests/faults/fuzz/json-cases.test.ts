import { expect, test } from 'vitest';
import { type JsonCase, jsonCases, type Verdict } from './json-cases.ts';
import { exactValue, hasUnsoundText, numberOf, readTagged, roundedValue, wholeText } from './read-tagged.ts';

/** The table and the judge are two opinions. fuzz.timed.test.ts shows that the product agrees. */
const CASES = jsonCases();

test('the table has cases of every verdict, and none twice', () => {
  const texts = CASES.map(({ bytes, wholeOnly }) => `${bytes.toString('latin1')} ${wholeOnly}`);
  expect(texts.filter((one, at) => texts.indexOf(one) !== at)).toEqual([]);
  expect(CASES.length).toBeGreaterThan(300);
  expect(new Set(CASES.map(({ verdict }) => verdict)).size).toBe(4);
});

test('the judge agrees with the table, for a case alone and inside an array', () => {
  expect(CASES.filter((one) => verdictOf(one.bytes) !== one.verdict).map(described)).toEqual([]);
  const inside = CASES.filter(({ wholeOnly }) => !wholeOnly);
  const inArray = ({ bytes }: JsonCase) => Buffer.concat([Buffer.from('[0,'), bytes, Buffer.from(']')]);
  expect(inside.filter((one) => isJson(inArray(one)) !== isJson(one.bytes)).map(described)).toEqual([]);
});

test('the judge rounds to the even unit, and writes numbers out', () => {
  const rounded = ['0.30000000000000004', '15e-13', '-0.0000000000025', '5.1e-13', '1e-99'];
  expect(rounded.map(roundedValue)).toEqual([300_000_000_000n, 2n, -2n, 1n, 0n]);
  expect(roundedValue('999999999999999.9999999999995')).toBeUndefined();
  const whole = ['-1.50E3', '0.30000000000000004', '-0e9', '25e-3'];
  expect(whole.map((text) => wholeText(text, 20))).toEqual(['-1500', '0.30000000000000004', '0', '0.025']);
  expect(['1e20', '1e-20'].map((text) => wholeText(text, 20))).toEqual([undefined, undefined]);
});

function verdictOf(bytes: Buffer): Verdict {
  const read = readTagged(bytes);
  if (!read) return 'not JSON';
  if (hasUnsoundText(read.value)) return 'unstorable';
  const number = numberOf(read.value);
  return number !== undefined && exactValue(number) === undefined ? 'beyond' : 'read';
}

function isJson(bytes: Buffer): boolean {
  return readTagged(bytes) !== undefined;
}

function described({ verdict, why, bytes }: JsonCase): string {
  return `${verdict}, ${why}: ${JSON.stringify(bytes.toString('latin1', 0, 60))}`;
}
