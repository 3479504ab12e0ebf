import { expect } from 'vitest';
import type { FaultPromise, FaultResult } from './promise.ts';
import { runPromise } from './run-promise.ts';

/** By default a seed of its own for each run of the tests. */
export const SEED = Date.now() % 1_000_000;

/**
 * Runs the short form of a promise and expects it to be kept. Reports every problem: of an object the runner
 * prints only the beginning. A thrown error is rethrown: a mutant is not found by it.
 */
export async function keptShortForm(
  promise: FaultPromise,
  { seed = SEED, rounds = promise.rounds.short }: { seed?: number; rounds?: number } = {},
): Promise<FaultResult> {
  const result = await runPromise(promise, { seed, rounds, form: 'short' });
  const found = `seed ${seed}:\n${result.problems.join('\n')}`;
  if (result.thrown) throw new Error(found);
  expect(result.problems, found).toEqual([]);
  expect(result.outcome, result.lacks).toBe('kept');
  return result;
}
