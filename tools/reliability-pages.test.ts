import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MUTANTS } from '../tests/mutants/mutant-list.ts';
import { PAGES, readSources } from './reliability-files.ts';
import { reliabilityPages } from './reliability-pages.ts';

/** Red when a mutant or a result is added, changed or removed and `npm run reliability` was not run. */
it.each(['mutants', 'runs', 'promises'] as const)('the page of %s is up to date', (name) => {
  expect(readFileSync(PAGES[name], 'utf8')).toBe(reliabilityPages(readSources())[name]);
});

/** Red when a promise has no row, or a mutant names a promise that does not exist. */
it('docs/reliability.md has a row for each promise that a mutant is of, and no other', () => {
  const rows = [...readFileSync(PAGES.promises, 'utf8').matchAll(/^\| (\d+) \|/gm)].map(([, one]) =>
    Number(one),
  );
  const promised = new Set(MUTANTS.flatMap(({ promises }) => promises));
  expect(rows).toEqual([...promised].sort((a, b) => a - b));
});
