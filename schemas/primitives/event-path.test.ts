import { expect, test } from 'vitest';
import { readEventPath, valueAt } from './event-path.ts';

test.each([
  ['tokens', ['tokens']],
  ['gen_ai.usage.input_tokens', ['gen_ai.usage.input_tokens']],
  ['$', []],
  ['$.tokens', ['tokens']],
  ['$.usage.total-tokens', ['usage', 'total-tokens']],
  ['$[\'total tokens\']["a\\"b"]', ['total tokens', 'a"b']],
  ['$.parts[0].größe', ['parts', 0, 'größe']],
])('%s is a path', (text, path) => expect(readEventPath(text)).toEqual(path));

test.each([
  '$tokens',
  '$.',
  '$..tokens',
  '$.a[*]',
  '$.a[-1]',
  '$.a[?(@.b)]',
  '$.a b',
  '$[0',
  `$${'.a'.repeat(17)}`,
])('%s is none', (text) => expect(readEventPath(text)).toBeUndefined());

test('a path leads through own members and elements only', () => {
  const data = { a: { b: [10, { c: 0 }] }, n: null };
  const at = (text: string) => valueAt(data, readEventPath(text) ?? ['no path']);
  expect([at('$.a.b[0]'), at('$.a.b[1].c'), at('n')]).toEqual([10, 0, null]);
  for (const text of [
    '$.a.b[2]',
    '$.a.b.length',
    '$.a[0]',
    '$.n.x',
    'constructor',
    '$.a.__proto__',
    '$.x.y',
  ]) {
    expect(at(text)).toBeUndefined();
  }
  expect(valueAt(7, [])).toBe(7);
});
