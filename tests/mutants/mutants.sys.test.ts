import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { startInstance } from '../support/instance.ts';
import { applyMutant } from './mutant.ts';
import { MUTANTS } from './mutant-list.ts';
import { brokenBy, brokenNotice } from './mutated-by.ts';

it('every break fits its compiled module as well', () => {
  const misfits = MUTANTS.filter((one) => {
    const text = readFileSync(`dist/${one.module}.js`, 'utf8');
    return applyMutant(text, one) === text;
  });
  expect(misfits).toEqual([]);
});

it.each(['answer-before-flush', 'loaded-before-insert'])(
  'the processes of npm start run with the break %s and say so',
  async (name) => {
    const instance = await startInstance({ ...brokenBy(name), LOG_LEVEL: 'fatal' });
    try {
      expect(instance.log()).toBe(brokenNotice(name));
    } finally {
      await instance.remove();
    }
  },
);
