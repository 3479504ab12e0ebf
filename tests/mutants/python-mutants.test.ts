import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runPython } from '../clients/python3.ts';
import { MisfitMutant } from './apply-mutant.ts';
import { MUTANTS } from './mutant-list.ts';
import { type MutantRow, mutant } from './mutant-row.ts';
import { applyPythonMutant, isOfPython, PYTHON_SOURCES } from './python-mutants.ts';

const SOURCE = `
def send(file):
    # mutant: gone
    flush(file)
    # mutant: open
    while not closed(
        file
    ):
        pass
`;

describe('a mutant of Python', () => {
  const row = (name: string) => mutant(name, [1]).why('nothing is durable');

  it.each<[what: string, MutantRow, made: string]>([
    ['removes a statement', row('gone').drop('a.py'), '    pass'],
    ['replaces a statement', row('gone').is('a.py', 'wait()'), '    wait()'],
    ['adds code before a statement', row('gone').before('a.py', 'wait()'), '    wait()\n    flush(file)'],
    ['replaces a part of a statement', row('gone').swap('a.py', 'file', 'None'), '    flush(None)'],
  ])('%s', (_, one, made) => {
    expect(applyPythonMutant(SOURCE, one.mutant)).toBe(SOURCE.replace('    flush(file)', made));
  });

  it.each<[what: string, MutantRow]>([
    ['has no marker', row('lost').drop('a.py')],
    ['has a statement of several lines', row('open').drop('a.py')],
    ['swaps what is not there', row('gone').swap('a.py', 'sync', 'flush')],
    ['does what is not known here', row('gone').later('a.py')],
  ])('that %s is an error that names it', (_, one) => {
    expect(() => applyPythonMutant(SOURCE, one.mutant)).toThrow(MisfitMutant);
  });
});

/** Prints what does not compile, and names that the module does not have: they are red for no reason. */
const COMPARE = `
import dis, json, sys
def names(code):
    found = {one.argval for one in dis.get_instructions(code) if one.opname in ('LOAD_GLOBAL', 'LOAD_NAME')}
    return found.union(*(names(one) for one in code.co_consts if hasattr(one, 'co_code')))
for name, text, broken in json.load(sys.stdin):
    more = names(compile(broken, name, 'exec')) - names(compile(text, name, 'exec'))
    if more: print(name, more)
`;

const OF_PYTHON = MUTANTS.filter(isOfPython);

it('each mutant of Python compiles, with the names that its module has', () => {
  const changed = OF_PYTHON.map((one) => {
    const text = readFileSync(one.module, 'utf8');
    return [one.name, text, applyPythonMutant(text, one)];
  });
  const input = JSON.stringify(changed);
  const { status, stdout, stderr } = runPython({ args: ['-c', COMPARE], timeoutMs: 30_000, input });
  expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: '' });
});

it('there is a mutant for each marker in Python', () => {
  const names = readdirSync(PYTHON_SOURCES, { recursive: true, encoding: 'utf8' });
  const paths = names.filter((name) => name.endsWith('.py')).map((name) => join(PYTHON_SOURCES, name));
  const marked = paths.flatMap((path) => {
    const marks = readFileSync(path, 'utf8').matchAll(/# mutant: (\S+)$/gm);
    return [...marks].map(([, name]) => `${path} ${name}`);
  });
  expect(marked.sort()).toEqual(OF_PYTHON.map(({ name, module }) => `${module} ${name}`).sort());
});
