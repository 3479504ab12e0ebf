import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { FaultPromise, RoundReport } from '../faults/promise.ts';
import { runPromise } from '../faults/run-promise.ts';
import { inShort, whyUnseen } from './mutant-rounds.ts';

const SOUND: RoundReport = { counts: {}, problems: [] };

function promiseOf(round: () => Promise<RoundReport>, more: Partial<FaultPromise> = {}): FaultPromise {
  const rounds = { short: 1, long: 1 };
  return { promises: [1], title: 'a run', rounds, open: async () => ({ round }), ...more };
}

/** What the run reports of a mutant, if a promise ends like this with it. */
async function unseenBy(promise: FaultPromise, stopsWith?: RegExp): Promise<string | undefined> {
  return whyUnseen(await runPromise(promise, { seed: 1, rounds: 1, form: 'short' }), stopsWith);
}

it('a mutant is found by a round that finds a fault, and by one that stops as it is said to', async () => {
  expect(await unseenBy(promiseOf(async () => ({ ...SOUND, problems: ['lost'] })))).toBeUndefined();
  const stopped = promiseOf(() => Promise.reject(new Error('no response')));
  expect(await unseenBy(stopped, /^Error: no response$/m)).toBeUndefined();
});

it('a mutant is not found by a round that stops for any other reason, or for any at all', async () => {
  const stopped = promiseOf(() => Promise.reject(new Error('npm start ended with 1')));
  const notified = '"a run" was stopped, and judged nothing: Error: npm start ended with 1';
  expect(await unseenBy(stopped)).toBe(notified);
  expect(await unseenBy(stopped, /no response/)).toBe(notified);
  const open = () => Promise.reject(new Error('no response'));
  const unopened = promiseOf(async () => SOUND, { open });
  expect(await unseenBy(unopened, /no response/)).toBe('"a run" could not begin: Error: no response');
});

it('a mutant is not found by sound rounds, by a start that fails, or where nothing is run', async () => {
  expect(await unseenBy(promiseOf(async () => SOUND))).toBe('1 rounds of "a run" missed it');
  const open = () => Promise.reject(new Error('npm start ended with 1'));
  const unopened = promiseOf(async () => SOUND, { open });
  expect(await unseenBy(unopened)).toMatch(/^"a run" could not begin: .*npm start ended with 1$/);
  const lacking = promiseOf(async () => SOUND, { lacks: () => 'it needs a drum' });
  expect(await unseenBy(lacking)).toBe('"a run" was not run: it needs a drum');
});

it('what a mutant was found by is kept of each round, in one short line that names no folder', async () => {
  const said = `at ${join(process.cwd(), 'app', 'roles', 'ingest.ts')},\n ${join(tmpdir(), 'data')}: lost `;
  expect(inShort(said)).toBe('at …/app/roles/ingest.ts, …/data: lost');
  expect(inShort('x'.repeat(300))).toHaveLength(200);
  let number = 0;
  const promise = promiseOf(async () => ({ ...SOUND, foundBy: [`mutant ${number++}`] }));
  const result = await runPromise(promise, { seed: 1, rounds: 2, form: 'short' });
  expect(result.foundBy).toEqual(['mutant 0', 'mutant 1']);
});
