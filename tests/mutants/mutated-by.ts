import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mutantNamed } from './mutant-list.ts';

/** Names the mutant that the processes of dist-tests/, and vitest, are to run with. */
export const MUTANT_VARIABLE = 'METERGATE_BREAK';

/** Names a file to which every process that runs broken adds a line. */
export const MUTANT_NOTICES_VARIABLE = 'METERGATE_BREAK_NOTICES';

/** For a Metergate with that mutant in every process: `startInstance({ ...mutatedBy('ids-random') })`. */
export function mutatedBy(name: string): Record<string, string> {
  const loader = join('dist-tests', 'tests', 'mutants', 'mutant-loader.js');
  if (!existsSync(loader)) throw new Error(`${loader} is not there: node tools/build.mjs makes it.`);
  const option = `--import=${pathToFileURL(loader).href}`;
  return {
    [MUTANT_VARIABLE]: mutantNamed(name).name,
    NODE_OPTIONS: [process.env.NODE_OPTIONS, option].filter(Boolean).join(' '),
  };
}

/** What a process writes on stderr once it runs broken: without it nothing was shown. */
export function brokenNotice(name: string): string {
  return `runs with the mutant ${name}\n`;
}
