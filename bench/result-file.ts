import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commit, machineFacts } from './machine.ts';

/** One run, as it is kept: what, when, of which commit, on what machine. Gives its path. */
export function keepResult(kind: string, figures: object, folder = 'bench/results'): string {
  const at = new Date().toISOString();
  const path = join(folder, `${kind}-${at.slice(0, 19).replaceAll(':', '')}.json`);
  const result = { kind, at, commit: commit(), ...machineFacts(), ...figures };
  mkdirSync(folder, { recursive: true });
  // Put in its place whole: a run that is cut off leaves no half file.
  writeFileSync(`${path}.new`, `${JSON.stringify(result, null, 2)}\n`);
  renameSync(`${path}.new`, path);
  return path;
}
