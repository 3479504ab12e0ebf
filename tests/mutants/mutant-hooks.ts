import { appendFileSync, writeSync } from 'node:fs';
import type { InitializeHook, LoadHook } from 'node:module';
import { applyMutant } from './apply-mutant.ts';
import type { Mutant } from './mutant.ts';
import { mutantNamed } from './mutant-list.ts';
import { brokenNotice, MUTANT_NOTICES_VARIABLE } from './mutated-by.ts';

/** `process.stderr` of a loader's thread has no descriptor. */
const STDERR = 2;

let chosen: Mutant | undefined;

/** Runs in the loader's own thread, once. */
export const initialize: InitializeHook<{ name: string }> = ({ name }) => {
  chosen = mutantNamed(name);
};

/** A module that the mutant does not fit cannot be loaded: its process ends with the reason. */
export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  if (!chosen || url.includes('/node_modules/') || !url.endsWith(`/${chosen.module}.js`)) return loaded;
  const source = applyMutant(
    `${chosen.module}.js`,
    Buffer.from(loaded.source as Uint8Array).toString(),
    chosen,
  );
  notify(brokenNotice(chosen.name));
  return { ...loaded, source };
};

function notify(notice: string): void {
  writeSync(STDERR, notice);
  const notices = process.env[MUTANT_NOTICES_VARIABLE];
  if (notices) appendFileSync(notices, notice);
}
