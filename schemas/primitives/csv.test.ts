import { expect, it } from 'vitest';
import { csvLine, csvText } from './csv.ts';

it('quotes a field that holds a comma, a quote or a line end', () => {
  expect(csvLine(['x,y', 'say "hi"', 'a\nb', '', -1.5, true])).toBe(
    '"x,y","say ""hi""","a\nb",,-1.5,true\r\n',
  );
});

// Red when one of the ways in which a formula can begin is forgotten.
it.each(['=1+1', '+SUM(A1)', '-1-1', '@x', '\t=1', '\r=1', '\n=1', '＝1+1', '＋1', '－1', '＠x'])(
  'puts an apostrophe before %j, which a spreadsheet would run',
  (text) => expect(csvText(text)).toBe(`'${text}`),
);

it.each(['-1', '+0.25', '12', 'a=b', ' x', 'x\n=1', ''])('leaves %j as it is', (text) =>
  expect(csvText(text)).toBe(text),
);
