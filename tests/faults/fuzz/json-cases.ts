import type { JsonCase } from './json-case.ts';
import { NUMBER_CASES } from './json-number-cases.ts';
import { SHAPE_CASES, WHOLE_CASES } from './json-shape-cases.ts';
import { STRING_CASES } from './json-string-cases.ts';

/**
 * Texts for a JSON reader, with the reason of each verdict. The cases are those on which
 * readers were found to disagree (N. Seriot, "Parsing JSON is a minefield", and its JSONTestSuite), put in
 * our own groups; what RFC 8259 leaves open is decided here, as the contract (§1) does.
 */
export function jsonCases(): JsonCase[] {
  const anywhere = [...NUMBER_CASES, ...STRING_CASES, ...SHAPE_CASES];
  return [...casesOf(anywhere, false), ...casesOf(WHOLE_CASES, true)];
}

function casesOf(groups: typeof WHOLE_CASES, wholeOnly: boolean): JsonCase[] {
  return groups.flatMap(([verdict, why, ...cases]) => {
    return cases.map((one) => ({ verdict, why, bytes: bytesOf(one), wholeOnly }));
  });
}

function bytesOf(one: string | number[]): Buffer {
  return typeof one === 'string' ? Buffer.from(one) : Buffer.from(one);
}
