import { beforeAll, describe, expect, it } from 'vitest';
import { kindOf } from './mutant.ts';
import { MUTANTS } from './mutant-list.ts';
import { inWords, proveMutants, type Verdict } from './prove-mutants.ts';
import { provePythonMutants } from './prove-python-mutants.ts';

/** `npm run breaks`: each mutant that shows in a module turns red the tests that are named for it. */
const SHOWN_BY_MODULES = MUTANTS.filter(({ provedBy }) =>
  provedBy.some((proof) => kindOf(proof) !== 'processes'),
);
const ALL_PROOFS_MS = 20 * 60_000;

let verdicts: Verdict[];

beforeAll(async () => {
  verdicts = [...provePythonMutants(MUTANTS), ...(await proveMutants(MUTANTS, 'modules'))];
}, ALL_PROOFS_MS);

describe('a mutant turns red the tests that are named for it', () => {
  it.each(SHOWN_BY_MODULES.map(({ name }) => name))('%s', (name) => {
    const ofIt = verdicts.filter((verdict) => verdict.name === name);
    expect(ofIt.filter(({ outcome }) => outcome !== 'red').map(inWords)).toEqual([]);
    expect(ofIt).not.toEqual([]);
  });
});
