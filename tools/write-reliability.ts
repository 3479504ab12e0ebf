/** `npm run reliability`: renews the pages under docs/ of mutants and of the last long runs. */
import { writeFileSync } from 'node:fs';
import { PAGES, readSources } from './reliability-files.ts';
import { reliabilityPages } from './reliability-pages.ts';

const pages = reliabilityPages(readSources());
for (const name of ['mutants', 'runs', 'promises'] as const) writeFileSync(PAGES[name], pages[name]);
