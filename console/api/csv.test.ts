import { expect, it } from 'vitest';
import { csvOf } from './csv.ts';

it('quotes what has commas, quotation marks and line breaks', () => {
  expect(csvOf(['a', 'b'], [['x,y', 'say "hi"\nbye']])).toBe('a,b\r\n"x,y","say ""hi""\nbye"\r\n');
});

/** Red when a property of an event runs in the spreadsheet of a reader. */
it.each(['=1+1', '+1+1', '@SUM(A1)', '-2+3', '\t=1'])('marks %j as text', (text) => {
  expect(csvOf(['a'], [[text]])).toContain(`'${text}`);
});

it('leaves numbers as they are, also negative ones', () => {
  expect(csvOf(['a', 'b'], [['-1.5', 2]])).toBe('a,b\r\n-1.5,2\r\n');
});
