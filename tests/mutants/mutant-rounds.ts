import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FaultOptions, FaultPromise, FaultResult, RoundReport } from '../faults/promise.ts';
import { type PromiseRun, runPromise } from '../faults/run-promise.ts';
import { memoryTmpdir } from '../support/memory-tmpdir.ts';
import { kindOf, type Mutant } from './mutant.ts';
import { MUTANTS } from './mutant-list.ts';
import { MUTANT_NOTICES_VARIABLE, mutatedBy } from './mutated-by.ts';
import { inWords, proveMutants } from './prove-mutants.ts';

/**
 * The test of the tests: a round for each mutant that whole processes show. It runs the tests of processes
 * that are named for the mutant, and the promise that it violates, and passes when all of them are red.
 * `promises` are all the others.
 */
export function mutantRounds(promises: readonly FaultPromise[]): FaultPromise {
  const title = 'every mutant is found by the run of its promise';
  return roundsOf(SHOWN, { name: 'mutants', title }, promises);
}

/** The same for each of them alone, under its own name. */
export function singleMutants(promises: readonly FaultPromise[]): FaultPromise[] {
  return SHOWN.map((one) => {
    const { name } = one;
    return roundsOf(
      [one],
      { name, title: `the mutant ${name} is found by the run of its promise` },
      promises,
    );
  });
}

function roundsOf(
  shown: readonly Mutant[],
  named: Pick<FaultPromise, 'name' | 'title'>,
  promises: readonly FaultPromise[],
): FaultPromise {
  return {
    ...named,
    // No row of the table.
    promises: [0],
    rounds: { short: shown.length, long: shown.length },
    open: async (options) => ({
      round: async ({ number }) => {
        const one = shown[number];
        if (one) return showMutant(one, promises, options);
        return { counts: {}, problems: [`There are ${shown.length} mutants to show.`] };
      },
    }),
  };
}

const SHOWN = MUTANTS.filter((one) => {
  return isShown(one) || one.provedBy.some((proof) => kindOf(proof) === 'processes');
});

type Shown = Mutant & Required<Pick<Mutant, 'shownBy'>>;

function isShown(one: Mutant): one is Shown {
  return one.shownBy !== undefined;
}

async function showMutant(
  one: Mutant,
  promises: readonly FaultPromise[],
  options: FaultOptions,
): Promise<RoundReport> {
  const verdicts = await proveMutants([one], 'processes');
  const missed = verdicts.filter(({ outcome }) => outcome !== 'red').map(inWords);
  const red = verdicts.filter(({ outcome }) => outcome === 'red');
  const ofRun = isShown(one) ? await runOfPromise(one, promises, options) : { problems: [], foundBy: [] };
  const problems = [...missed, ...ofRun.problems];
  const foundBy = [...red.map(({ name, because }) => `${name}: ${because}`), ...ofRun.foundBy];
  return { counts: { mutantsFound: problems.length === 0 ? 1 : 0 }, problems, foundBy: foundBy.map(inShort) };
}

const SHORT_CHARS = 200;

/** One line of a result that is kept: it names no folder of this machine. */
export function inShort(text: string): string {
  const named = [process.cwd(), memoryTmpdir(), tmpdir()].reduce(
    (rest, folder) => rest.replaceAll(folder, '…'),
    text,
  );
  return named.replace(/\s+/g, ' ').trim().slice(0, SHORT_CHARS);
}

/** No problem when the promise is found broken. */
async function runOfPromise(
  { name, shownBy }: Shown,
  promises: readonly FaultPromise[],
  { seed, say }: FaultOptions,
): Promise<Required<Pick<RoundReport, 'problems' | 'foundBy'>>> {
  const missed = (why: string) => ({ problems: [`${name}: ${why}.`], foundBy: [] });
  const promise = promises.find((one) => one.promises.includes(shownBy.promise));
  if (!promise) return missed(`no run is of promise ${shownBy.promise}`);
  const run: PromiseRun = { seed, rounds: shownBy.rounds, form: 'short' };
  const { result, ranBroken } = await whileBroken(name, () => runPromise(promise, run));
  if (result.leftAt !== undefined) rmSync(result.leftAt, { recursive: true, force: true });
  const unseen = ranBroken ? whyUnseen(result, shownBy.stopsWith) : 'no process ran with it';
  if (unseen !== undefined) return missed(unseen);
  const [first = ''] = result.problems;
  say(`${name} is found in round ${result.roundsDone}: ${first.split('\n')[0]}`);
  return { problems: [], foundBy: [`${name}: ${first}`] };
}

/**
 * Why a run has not shown that a promise is broken; undefined when it has. Where a Metergate does not even
 * start, or a round does not come to its end, nothing was judged: any other damage would look the same.
 */
export function whyUnseen(
  { outcome, roundsDone, title, lacks, problems, thrown }: FaultResult,
  stopsWith?: RegExp,
): string | undefined {
  if (lacks !== undefined) return `"${title}" was not run: ${lacks}`;
  if (outcome !== 'broken') return `${roundsDone} rounds of "${title}" missed it`;
  const [first = ''] = problems;
  const notified = first.split('\n')[0];
  if (roundsDone === 0) return `"${title}" could not begin: ${notified}`;
  if (!thrown || stopsWith?.test(first)) return undefined;
  return `"${title}" was stopped, and judged nothing: ${notified}`;
}

/** Every process that is started meanwhile runs with the mutant; this one, which judges, does not. */
async function whileBroken<T>(
  name: string,
  work: () => Promise<T>,
): Promise<{ result: T; ranBroken: boolean }> {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-mutant-'));
  const notices = join(folder, 'notices');
  const changes = { ...mutatedBy(name), [MUTANT_NOTICES_VARIABLE]: notices };
  const before = Object.keys(changes).map((variable) => [variable, process.env[variable]] as const);
  Object.assign(process.env, changes);
  try {
    const result = await work();
    return { result, ranBroken: existsSync(notices) };
  } finally {
    for (const [variable, value] of before) {
      if (value === undefined) delete process.env[variable];
      else process.env[variable] = value;
    }
    rmSync(folder, { recursive: true, force: true });
  }
}
