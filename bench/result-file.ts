import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commit, machineFacts } from '../tests/support/machine.ts';

/** One run, as it is kept: what, when, of which commit, on what machine. */
export interface ResultFile {
  path: string;
  /** Puts the figures in the place of those that were kept before. */
  keep(figures: object): void;
}

/** Of what this process was started from: who commits while it runs changes nothing of that. */
const startedFrom = commit();

export function openResult(kind: string, folder = 'bench/results'): ResultFile {
  const at = new Date().toISOString();
  const path = join(folder, `${kind}-${at.slice(0, 19).replaceAll(':', '')}.json`);
  const facts = machineFacts();
  if (facts.machine.fileSystem === 'tmpfs') {
    process.stderr.write('data were in memory (tmpfs): what durable writes cost was not measured\n');
  }
  mkdirSync(folder, { recursive: true });
  return {
    path,
    keep(figures) {
      const result = { kind, at, commit: startedFrom, ...facts, ...figures };
      // Put in its place whole: a run that is cut off leaves no half file.
      writeFileSync(`${path}.new`, `${JSON.stringify(result, null, 2)}\n`);
      renameSync(`${path}.new`, path);
    },
  };
}

/** Gives its path. */
export function keepResult(kind: string, figures: object, folder?: string): string {
  const file = openResult(kind, folder);
  file.keep(figures);
  return file.path;
}
