import { expect, test } from 'vitest';
import { accepts } from './accepts.ts';

test.each([
  ['application/json', true],
  ['text/html, Application/JSON ;q=0.1', true],
  ['application/json, text/plain, */*', true],
  [undefined, false],
  ['*/*', false],
  ['application/*', false],
  ['application/json;q=0', false],
  ['application/json; q=0.00', false],
  ['application/json-seq', false],
])('Accept: %s names JSON: %s', (header, isNamed) => {
  expect(accepts(header, 'application/json')).toBe(isNamed);
});
