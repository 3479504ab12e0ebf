import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { misfit } from './apply-mutant.ts';
import type { Mutant } from './mutant.ts';
import { mutantNamed } from './mutant-list.ts';
import { MUTANT_VARIABLE } from './mutated-by.ts';

/** The modules of the Python SDK, from the root. */
export const PYTHON_SOURCES = 'sdk/python/src';

export function isOfPython({ module }: Pick<Mutant, 'module'>): boolean {
  return module.endsWith('.py');
}

/**
 * The text of its module with the mutant: `# mutant: NAME` stands alone above a statement of one line. Throws
 * MisfitMutant.
 */
export function applyPythonMutant(text: string, mutant: Mutant): string {
  const { name, verb, code } = mutant;
  const lines = text.split('\n');
  const marks = lines.flatMap((line, at) => (line.trim() === `# mutant: ${name}` ? [at] : []));
  const at = (marks[0] ?? -1) + 1;
  const line = lines[at]?.trim() ?? '';
  if (marks.length !== 1 || line === '' || /[([{\\]$/.test(line)) {
    throw misfit(mutant, `there are ${marks.length} markers "mutant: ${name}" above a line, not one`);
  }
  const [put = '', replacement = ''] = code;
  const indent = lines[at]?.slice(0, -line.length);
  const edited = { drop: ['pass'], is: [put], before: [put, line], swap: [line.replace(put, replacement)] };
  const made = edited[verb as keyof typeof edited];
  if (!made || made.join('\n') === line) throw misfit(mutant, `"${verb}" does nothing to ${line}`);
  return lines.toSpliced(at, 1, ...made.map((one) => `${indent}${one}`)).join('\n');
}

/** Where Python finds the SDK: its sources, or a copy of them with the mutant that METERGATE_BREAK names. */
export function pythonSources(name = process.env[MUTANT_VARIABLE]): string {
  const mutant = name ? mutantNamed(name) : undefined;
  if (!mutant || !isOfPython(mutant)) return resolve(PYTHON_SOURCES);
  const copy = resolve('.cache', 'python-mutants', mutant.name);
  if (copied.has(copy)) return copy;
  rmSync(copy, { recursive: true, force: true });
  cpSync(PYTHON_SOURCES, copy, { recursive: true });
  const text = applyPythonMutant(readFileSync(mutant.module, 'utf8'), mutant);
  writeFileSync(join(copy, relative(PYTHON_SOURCES, mutant.module)), text);
  copied.add(copy);
  return copy;
}

/** By this process. */
const copied = new Set<string>();
