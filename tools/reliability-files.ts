import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunFile } from '../tests/faults/run-file.ts';
import { MUTANTS } from '../tests/mutants/mutant-list.ts';
import type { ReliabilityPages, Sources } from './reliability-pages.ts';

/** From the root. */
export const PAGES: Record<keyof ReliabilityPages, string> = {
  mutants: 'docs/reliability-mutants.md',
  runs: 'docs/reliability-runs.md',
  promises: 'docs/reliability.md',
};

const RESULTS = 'bench/results';

/** What the pages are made of, as it is on the disk. */
export function readSources(): Sources {
  const names = readdirSync(RESULTS).filter((name) => /^torture-.*\.json$/.test(name));
  const files = names.sort().map((name): RunFile => JSON.parse(readFileSync(join(RESULTS, name), 'utf8')));
  return { mutants: MUTANTS, files, promises: readFileSync(PAGES.promises, 'utf8') };
}
