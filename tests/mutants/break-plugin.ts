import { resolve } from 'node:path';
import type { Plugin } from 'vitest/config';
import { applyBreak } from './break.ts';
import { breakNamed } from './break-list.ts';
import { BREAK_VARIABLE, brokenBy } from './broken-by.ts';

/**
 * For vitest: `METERGATE_BREAK=ids-random npx vitest run ingest` runs these tests with that break, and every
 * process that they start as well. Nothing without the variable.
 */
export function brokenModules(name = process.env[BREAK_VARIABLE]): Plugin[] {
  if (!name) return [];
  const chosen = breakNamed(name);
  const broken = resolve(`${chosen.module}.ts`);
  const transform: Plugin = {
    name: `break-${name}`,
    // Before types are taken away.
    enforce: 'pre',
    transform: (code, id) => (id.split('?')[0] === broken ? applyBreak(code, chosen) : undefined),
  };
  return [transform, ...brokenProcesses(name)];
}

/** The same for tests of whole processes, which judge with modules of the product: those stay as they are. */
export function brokenProcesses(name = process.env[BREAK_VARIABLE]): Plugin[] {
  return name ? [{ name: `processes-${name}`, config: () => ({ test: { env: brokenBy(name) } }) }] : [];
}
