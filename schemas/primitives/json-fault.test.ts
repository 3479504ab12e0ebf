import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonFault, jsonFaultAt } from './json-fault.ts';

const item = (value: string) =>
  `{"customerId":"acme","meterId":"calls","value":${value},"idempotencyKey":"k"}`;

test.each(['NaN', 'Infinity', '-Infinity', 'undefined', 'None', 'True', '1.', '.5', '+1', '0x10'])(
  'a value of %s in the last of 500 items is named with its place',
  (value) => {
    const items = [...Array<string>(499).fill(item('1')), item(value)];
    const text = `{"events":[${items.join(',')}]}`;
    const at = text.indexOf(`:${value}`) + 1;
    // The sound beginning of a number is passed over: the fault is what follows it.
    expect(jsonFault(Buffer.from(text))).toBe(
      `is not valid JSON at byte offset ${at}: unexpected \`${value}\``,
    );
  },
);

test.each([
  ['{"a":1,}', 7, '`}`'],
  ['{"a" 1}', 5, '`1`'],
  ["{'a':1}", 1, "`'`"],
  ['[1,2', 4, 'end'],
  ['{"a":"b', 7, 'end'],
  ['"\\x"', 2, '`x`'],
  ['"\\u12g4"', 5, '`g4`'],
  ['["\n"]', 2, 'byte 0x0a'],
  ['[]x', 2, '`x`'],
  ['[01]', 1, '`01`'],
  ['', 0, 'end'],
  ['{"ü":tru}', 6, '`tru`'],
  ['[1 2]', 3, '`2`'],
])('%j is no JSON at %i', (text, at, found) => {
  const fault = jsonFault(Buffer.from(text));
  expect(fault).toContain(`at byte offset ${at}`);
  if (found !== 'end') expect(fault).toContain(`unexpected ${found}`);
});

test('bytes that are no UTF-8 are named by their place, counted from the beginning of the body', () => {
  const body = Buffer.concat([Buffer.from('{"ä":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]);
  expect(jsonFault(body)).toBe('is not valid UTF-8 at byte offset 7');
  expect(jsonFault(body, 100)).toBe('is not valid UTF-8 at byte offset 107');
});

const PIECES = fc.oneof(
  fc.constantFrom(
    ...'{ } [ ] : , " \\ \\" \\u \\u00e9 true nul null - -1 0 01 1. 1.5 1e 1e5 E+ NaN \n \t'.split(' '),
  ),
  fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
);

/** Red when the scanner accepts anything that JSON.parse rejects, or the other way round. */
test('a fault is found if JSON.parse rejects the text, and only then', () => {
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(3), PIECES), { maxLength: 3 });
  const texts = fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)));
  fc.assert(
    fc.property(texts, edits, (sound, changes) => {
      const body = changes.reduce((bytes, [at, cut, piece]) => {
        const from = at % (bytes.length + 1);
        return Buffer.concat([bytes.subarray(0, from), Buffer.from(piece), bytes.subarray(from + cut)]);
      }, sound);
      if (!isUtf8(body)) return void expect(jsonFault(body)).toMatch(/UTF-8 at byte offset \d+$/);
      const at = jsonFaultAt(body);
      expect([at === undefined, body.toString()]).toEqual([isJson(body.toString()), body.toString()]);
    }),
    { numRuns: 20_000, seed: 20261125 },
  );
});

test('a million brackets are looked through without recursion', () => {
  expect(jsonFaultAt(Buffer.from('['.repeat(1_000_000)))).toBe(1_000_000);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
