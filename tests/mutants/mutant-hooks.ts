import { appendFileSync, writeSync } from 'node:fs';
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module';
import { sep } from 'node:path';
import { pathToFileURL } from 'node:url';
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

/** Programs of dist/ are bundled: those of dist-tests/ are the same, each module by itself. */
const BUNDLED = pathToFileURL(`dist${sep}`).href;
const BY_MODULE = pathToFileURL(`dist-tests${sep}`).href;

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const resolved = await nextResolve(specifier, context);
  return { ...resolved, url: resolved.url.replace(BUNDLED, BY_MODULE) };
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
