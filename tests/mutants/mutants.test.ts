import { existsSync, readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { applyMutant, kindOf, MisfitMutant, type Mutant } from './mutant.ts';
import { MUTANTS } from './mutant-list.ts';
import { isSeenByRunOf, RUNS } from './seen-by-run.ts';

/** Of this release; others have mutants before all of them is promised. */
const NUMBERS = Array.from({ length: 11 }, (_, at) => at + 1);

describe('a mutant', () => {
  const one: Mutant = {
    name: 'no-flush',
    promises: [1],
    why: 'nothing is durable',
    module: 'infra/log',
    find: 'await flush(file); return end;',
    replace: 'return end;',
    provedBy: [],
  };

  it('replaces its place, whatever white space stands there', () => {
    const text = 'write(file);\n  await flush(file);\n\n  return end;\n';
    expect(applyMutant(text, one)).toBe('write(file);\n  return end;\n');
  });

  it('that fits no place or two is an error that names it', () => {
    for (const text of ['return end;', `${one.find} ${one.find}`]) {
      expect(() => applyMutant(text, one)).toThrow(MisfitMutant);
      expect(() => applyMutant(text, one)).toThrow(/no-flush .* infra\/log/);
    }
  });
});

describe('the list of mutants', () => {
  it.each(MUTANTS.map((one) => [one.name, one] as const))('%s fits its module, which stays one', (_, one) => {
    const path = `${one.module}.ts`;
    const text = readFileSync(path, 'utf8');
    const broken = applyMutant(text, one);
    expect(broken).not.toBe(text);
    // What cannot be loaded is red for any test, and for no reason.
    expect(parseSync(path, broken, { showSemanticErrors: true }).errors).toEqual([]);
  });

  it('has each name once, and a test or a run that goes red for each', () => {
    const names = MUTANTS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const unproved = MUTANTS.filter(({ provedBy, shownBy }) => provedBy.length === 0 && !shownBy);
    expect(unproved.map(({ name }) => name)).toEqual([]);
  });

  it('names each proof of a mutant once', () => {
    const doubled = MUTANTS.filter(({ provedBy }) => {
      return new Set(provedBy.map(({ test, title }) => `${test} ${title}`)).size < provedBy.length;
    });
    expect(doubled.map(({ name }) => name)).toEqual([]);
  });

  it('names proofs that are there', () => {
    const proofs = MUTANTS.flatMap(({ provedBy }) => provedBy);
    const lost = proofs.filter((proof) => {
      // Those of modules are run by `npm run breaks`; the others wait for the long form.
      if (kindOf(proof) === 'modules') return !existsSync(proof.test);
      return !readFileSync(proof.test, 'utf8').includes(proof.title);
    });
    expect(lost).toEqual([]);
  });

  it('is that of docs/reliability-mutants.md, promise by promise, apart by whose test turns red', () => {
    const promises = new Set([...NUMBERS, ...MUTANTS.flatMap((one) => one.promises)]);
    const kept = [...promises].map((promise) => {
      const mutants = MUTANTS.filter((one) => one.promises.includes(promise));
      const [own, others] = [true, false].map((isOwn) => {
        return mutants.filter((one) => isSeenByRunOf(one, promise) === isOwn).map(({ name }) => name);
      });
      return [promise, { own: own?.sort(), others: others?.sort() }] as const;
    });
    expect(Object.fromEntries(rowsOf(readFileSync(PAGE, 'utf8')))).toEqual(Object.fromEntries(kept));
    expect([...promises].filter((one) => !MUTANTS.some((each) => each.promises.includes(one)))).toEqual([]);
  });

  it('has a promise for each test of processes that a mutant names', () => {
    const tests = MUTANTS.flatMap(({ provedBy }) => provedBy.filter((one) => kindOf(one) === 'processes'));
    expect(new Set(tests.map(({ test }) => test))).toEqual(new Set(Object.keys(RUNS)));
  });
});

const PAGE = 'docs/reliability-mutants.md';

interface MutantsOfPromise {
  own: string[];
  others: string[];
}

/** Number and mutants of each promise: of each row of the page the name, and its last two columns. */
function rowsOf(document: string): Map<number, MutantsOfPromise> {
  const found = new Map<number, MutantsOfPromise>();
  for (const line of document.split('\n')) {
    const [, name, own = '', others = ''] =
      /^\| `([a-z-]+)` \|.* \| ([\d, –]+) \| ([\d, –]+) \|$/.exec(line) ?? [];
    if (name === undefined) continue;
    for (const [kind, column] of [
      ['own', own],
      ['others', others],
    ] as const) {
      for (const [number] of column.matchAll(/\d+/g)) {
        const row = found.get(Number(number)) ?? { own: [], others: [] };
        row[kind].push(name);
        row[kind].sort();
        found.set(Number(number), row);
      }
    }
  }
  return found;
}
