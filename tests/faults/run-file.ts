import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commit, type MachineFacts, machineFacts } from '../support/machine.ts';
import type { FaultResult, Form } from './promise.ts';

/** bench/results/torture-*.json: one run, brought up to date after every round. */
export interface RunFile extends MachineFacts {
  at: string;
  commit: string;
  form: Form;
  /** In the order in which they are run; those not begun yet among them. */
  results: FaultResult[];
}

export interface OpenedFile {
  path: string;
  file: RunFile;
}

export function newRunFile(folder: string, form: Form, results: FaultResult[]): OpenedFile {
  const at = new Date().toISOString();
  const name = `torture-${at.slice(0, 19).replaceAll(':', '')}.json`;
  return { path: join(folder, name), file: { at, commit: commit(), ...machineFacts(), form, results } };
}

/**
 * The newest one if anything of it is unfinished. Throws when other code than this began it: what is kept is
 * reported of one commit.
 */
export function unfinishedRunFile(folder: string): OpenedFile | undefined {
  const names = readdirSync(folder).filter((name) => /^torture-.*\.json$/.test(name));
  const newest = names.sort().at(-1);
  if (newest === undefined) return undefined;
  const path = join(folder, newest);
  const file = JSON.parse(readFileSync(path, 'utf8')) as RunFile;
  if (!file.results.some(({ outcome }) => outcome === 'unfinished')) return undefined;
  const now = commit();
  if (file.commit !== now) throw new Error(`${path} was begun on ${file.commit}, and this is ${now}.`);
  return { path, file };
}

/** Put in its place whole: a crash while it is written leaves the one before. */
export function writeRunFile(folder: string, { path, file }: OpenedFile): void {
  mkdirSync(folder, { recursive: true });
  // The path of a failed run's data is printed for the operator; a stored file names no machine's path.
  const results = file.results.map(({ leftAt: _, ...result }) => result);
  writeFileSync(`${path}.new`, `${JSON.stringify({ ...file, results }, null, 2)}\n`);
  renameSync(`${path}.new`, path);
}
