import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type DataDir, dataDirAt } from '../../../infra/platform/data-dir.ts';
import { EXIT } from '../../../infra/platform/exit-code.ts';
import { testFolder } from '../../support/test-folder.ts';
import { startRelease } from './release.ts';
import type { Installation } from './small-installation.ts';
import { checkSums } from './stored-sums.ts';

export const DATA_PLANE = join('dist', 'app', 'roles', 'ingest.js');

/** Printed by a process that runs with a mutant on purpose. */
export const MUTANT_NOTICES = /^runs with the break .*\n/gm;

const END_WITHIN_MS = 40_000;

/** What is done to a data folder, with the path that the rejection names, and what it says. */
export type Harm = [what: string, harm: (paths: DataDir) => string, says: RegExp];

/** Starts a data plane on a harmed copy, which ends with one sentence and has changed nothing. */
export async function expectDataPlaneRejects(
  { dataDir, env }: Installation,
  [, harm, says]: Harm,
): Promise<void> {
  const paths = copyOf(dataDir);
  const named = harm(paths);
  const before = checkSums(paths);
  const { code, stderr } = await runToEnd(DATA_PLANE, { DATA_DIR: paths.root, ...env });
  expect(stderr).toContain(named);
  expect(stderr).toMatch(says);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(code).toBe(EXIT.dataRejected);
  // Keys that were lost may be rebuilt.
  expect(checkSums(paths)).toMatchObject(before);
}

/** A process that does not reject the data runs on: it is ended by force, and its code is null. */
export async function runToEnd(program: string, env: Record<string, string>) {
  const release = startRelease(program, { LOG_LEVEL: 'fatal', ...env });
  const late = setTimeout(() => void release.end(), END_WITHIN_MS);
  const code = await release.ended();
  clearTimeout(late);
  await release.end();
  return { code, stdout: release.stdout(), stderr: release.stderr().replace(MUTANT_NOTICES, '') };
}

/** For the running test: a copy of a data folder. */
export function copyOf(dataDir: string): DataDir {
  const root = testFolder();
  cpSync(dataDir, root, { recursive: true });
  return dataDirAt(root);
}
