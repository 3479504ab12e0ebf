import { resolve } from 'node:path';
import type { Plugin } from 'vitest/config';
import { applyMutant } from './apply-mutant.ts';
import { mutantNamed } from './mutant-list.ts';
import { MUTANT_VARIABLE, mutatedBy } from './mutated-by.ts';

/**
 * For vitest: `METERGATE_BREAK=ids-random npx vitest run ingest` runs these tests with that mutant, and every
 * process that they start as well. Nothing without the variable.
 */
export function brokenModules(name = process.env[MUTANT_VARIABLE]): Plugin[] {
  if (!name) return [];
  const chosen = mutantNamed(name);
  const broken = resolve(`${chosen.module}.ts`);
  const transform: Plugin = {
    // Changed modules are kept by it, and by what they are made of: another change is another name.
    name: `mutant-${name} ${chosen.verb} ${chosen.code.join(' ')}`,
    // Before types are taken away.
    enforce: 'pre',
    transform: (code, id) => (id.split('?')[0] === broken ? applyMutant(broken, code, chosen) : undefined),
  };
  return [transform, ...brokenProcesses(name)];
}

/** The same for tests of whole processes, which judge with modules of the product: those stay as they are. */
export function brokenProcesses(name = process.env[MUTANT_VARIABLE]): Plugin[] {
  return name ? [{ name: `processes-${name}`, config: () => ({ test: { env: mutatedBy(name) } }) }] : [];
}
