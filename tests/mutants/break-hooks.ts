import { appendFileSync, writeSync } from 'node:fs';
import type { InitializeHook, LoadHook } from 'node:module';
import { applyBreak, type Break } from './break.ts';
import { breakNamed } from './break-list.ts';
import { BREAK_NOTICES_VARIABLE, brokenNotice } from './broken-by.ts';

/** `process.stderr` of a loader's thread has no descriptor. */
const STDERR = 2;

let chosen: Break | undefined;

/** Runs in the loader's own thread, once. */
export const initialize: InitializeHook<{ name: string }> = ({ name }) => {
  chosen = breakNamed(name);
};

/** A module that the break does not fit cannot be loaded: its process ends with the reason. */
export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  if (!chosen || url.includes('/node_modules/') || !url.endsWith(`/${chosen.module}.js`)) return loaded;
  const source = applyBreak(Buffer.from(loaded.source as Uint8Array).toString(), chosen);
  tell(brokenNotice(chosen.name));
  return { ...loaded, source };
};

function tell(notice: string): void {
  writeSync(STDERR, notice);
  const notices = process.env[BREAK_NOTICES_VARIABLE];
  if (notices) appendFileSync(notices, notice);
}
