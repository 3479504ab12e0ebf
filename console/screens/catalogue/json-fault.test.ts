import { expect, it } from 'vitest';
import { jsonFault } from './json-fault.ts';

function faultOf(text: string): string {
  try {
    JSON.parse(text);
    return 'none';
  } catch (error) {
    return jsonFault(text, error as SyntaxError);
  }
}

it.each([
  ['{\n  "a": 1\n  "b": 2\n}', 3, '"b": 2'],
  ['{\n  "a": 1,\n}', 3, '}'],
  ['{\n  "a": [1, 2\n', 2, '"a": [1, 2'],
  ['x', 1, 'x'],
])('names the line of %j', (text, line, shown) => {
  expect(faultOf(text)).toContain(`Line ${line} is where this stops being JSON: ${shown}.`);
});

it('reads the line where the browser says it', () => {
  const error = new SyntaxError('JSON.parse: expected property name at line 2 column 3 of the JSON data');
  expect(jsonFault('{\n  a: 1\n}', error)).toContain('Line 2 is where this stops being JSON: a: 1.');
});
