import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseBatch, parseLines } from './parse.ts';
import { isDense, shallowJson } from './shallow-json.ts';

/** The same by walking the parsed value. */
function shallow(value: unknown, level = 1): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (level > 4) return Array.isArray(value) ? [] : {};
  if (Array.isArray(value)) return value.slice(0, 501).map((inner) => shallow(inner, level + 1));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shallow(inner, level + 1)]));
}

/** Red with a level more or less, an element more or less, and where brackets in a text count. */
test('keeps four levels and 501 elements of a list, and the texts in them as they are', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '[', '}', ',', 'é') });
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'large', maxDepth: 8 },
      fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(text, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(tree, fc.constantFrom(0, 1), (value, indent) => {
      const json = Buffer.from(JSON.stringify(value, undefined, indent));
      expect(JSON.parse(shallowJson(json).toString())).toEqual(shallow(value));
    }),
    { numRuns: 3_000, seed: 20261126 },
  );
  for (const length of [500, 501, 502, 2_000]) {
    const value = { events: Array.from({ length }, (_, at) => ({ at, list: [at] })), more: [length] };
    expect(JSON.parse(shallowJson(Buffer.from(JSON.stringify(value))).toString())).toEqual(shallow(value));
  }
});

const item = (more = '') =>
  `{"customerId":"acme","meterId":"calls","value":1.5,"idempotencyKey":"k","properties":{"a":"b"}${more}}`;
const batch = (items: string[]) => Buffer.from(`{"events":[${items.join(',')}]}`);

test('ordinary batches are not dense, brackets and commas in their texts do not count', () => {
  expect(isDense(batch(Array<string>(500).fill(item())))).toBe(false);
  expect(isDense(batch(Array<string>(500).fill(item(`,"d":"${'[,{'.repeat(50)}\\""`))))).toBe(false);
  expect(isDense(Buffer.from('[1,2,3,[4,5]]'))).toBe(false);
  expect(isDense(batch([item(`,"d":${'['.repeat(900)}${']'.repeat(900)}`)]))).toBe(true);
});

/** What the request means is the same; JSON.parse alone would take 40 to 250 ms for each. */
test('dense bodies are read as others are, and quickly', () => {
  const deep = `${'['.repeat(500_000)}${']'.repeat(500_000)}`;
  expect(parseBatch(batch([item(`,"d":${deep}`)]))).toMatchObject({ items: [{ value: 1.5, d: [[]] }] });
  expect(parseBatch(batch(Array<string>(300_000).fill('{}')))).toMatchObject({
    rejection: { code: 'batch_too_large' },
  });
  const open = parseBatch(Buffer.from(`{"events":${'['.repeat(1_000_000)}`));
  expect(open).toMatchObject({
    rejection: {
      code: 'invalid_json',
      message: expect.stringContaining('it ends too early, at byte offset 1000010'),
    },
  });
  const wrong = parseBatch(batch([item(`,"d":[${'1,'.repeat(400_000)}]`)]));
  expect(wrong).toMatchObject({ rejection: { message: expect.stringContaining('unexpected `]`') } });
});

test('a mebibyte of blank lines is no batch of anything', () => {
  expect(parseLines(Buffer.from('\n'.repeat(1_000_000)))).toEqual({ items: [], unknown: [] });
  expect(parseLines(Buffer.from(` \r\n\t\n${item()}\n \n${item()} \n  `))).toMatchObject({
    items: [{ value: 1.5 }, { value: 1.5 }],
  });
  expect(parseLines(Buffer.from(`\n ${item()}\n  x`))).toMatchObject({
    rejection: { message: expect.stringMatching(/^Line 3 is not valid JSON at byte offset \d+/) },
  });
});
