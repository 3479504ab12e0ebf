import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { startInstance } from '../support/instance.ts';
import { applyMutant } from './apply-mutant.ts';
import { MUTANTS } from './mutant-list.ts';
import { brokenNotice, mutatedBy } from './mutated-by.ts';
import { isOfPython } from './python-mutants.ts';

it('every mutant fits its compiled module as well', () => {
  const misfits = MUTANTS.filter((one) => {
    if (isOfPython(one)) return false;
    const path = `dist-tests/${one.module}.js`;
    const text = readFileSync(path, 'utf8');
    return applyMutant(path, text, one) === text;
  });
  expect(misfits).toEqual([]);
});

it.each(['response-before-flush', 'loaded-before-insert'])(
  'the processes of npm start run with the mutant %s and say so',
  async (name) => {
    const instance = await startInstance({ ...mutatedBy(name), LOG_LEVEL: 'fatal' });
    try {
      expect(instance.log()).toBe(brokenNotice(name));
    } finally {
      await instance.remove();
    }
  },
);
