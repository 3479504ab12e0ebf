import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { applyBreak, type Break, kindOf, MisfitBreak } from './break.ts';
import { BREAKS } from './break-list.ts';

/** Of this release; others have breaks before all of them is promised. */
const PROMISES = Array.from({ length: 11 }, (_, at) => at + 1);

describe('a break', () => {
  const one: Break = {
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
    expect(applyBreak(text, one)).toBe('write(file);\n  return end;\n');
  });

  it('that fits no place or two is an error that names it', () => {
    for (const text of ['return end;', `${one.find} ${one.find}`]) {
      expect(() => applyBreak(text, one)).toThrow(MisfitBreak);
      expect(() => applyBreak(text, one)).toThrow(/no-flush .* infra\/log/);
    }
  });
});

describe('the list of breaks', () => {
  it.each(BREAKS.map((one) => [one.name, one] as const))('%s fits its module', (_, one) => {
    const text = readFileSync(`${one.module}.ts`, 'utf8');
    expect(applyBreak(text, one)).not.toBe(text);
  });

  it('has each name once, and a test or a run that goes red for each', () => {
    const names = BREAKS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const unproved = BREAKS.filter(({ provedBy, shownBy }) => provedBy.length === 0 && !shownBy);
    expect(unproved.map(({ name }) => name)).toEqual([]);
  });

  it('names each proof of a break once', () => {
    const doubled = BREAKS.filter(({ provedBy }) => {
      return new Set(provedBy.map(({ test, title }) => `${test} ${title}`)).size < provedBy.length;
    });
    expect(doubled.map(({ name }) => name)).toEqual([]);
  });

  it('names proofs that are there', () => {
    const proofs = BREAKS.flatMap(({ provedBy }) => provedBy);
    const lost = proofs.filter((proof) => {
      // Those of modules are run by breaks.store.test.ts; the others wait for the long form.
      if (kindOf(proof) === 'modules') return !existsSync(proof.test);
      return !readFileSync(proof.test, 'utf8').includes(proof.title);
    });
    expect(lost).toEqual([]);
  });

  it('is that of RELIABILITY.md, promise by promise', () => {
    const promises = new Set([...PROMISES, ...BREAKS.flatMap((one) => one.promises)]);
    const kept = [...promises].map((promise) => {
      const breaks = BREAKS.filter((one) => one.promises.includes(promise));
      return [promise, breaks.map(({ name }) => name).sort()] as const;
    });
    expect(Object.fromEntries(rowsOf(readFileSync('RELIABILITY.md', 'utf8')))).toEqual(
      Object.fromEntries(kept),
    );
    expect(kept.filter(([, names]) => names.length === 0)).toEqual([]);
  });
});

/** Number and breaks of each promise: in the document's table they are the first column and the last. */
function rowsOf(document: string): Array<[promise: number, breaks: string[]]> {
  return document.split('\n').flatMap((line) => {
    const [number, ...columns] = line.split('|').slice(1, -1);
    if (!/^ *\d+ *$/.test(number ?? '')) return [];
    const names = [...(columns.at(-1) ?? '').matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name);
    return [[Number(number), names.sort()]];
  });
}
