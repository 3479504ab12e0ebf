import { expect } from 'vitest';
import type { FaultResult } from './promise.ts';

/**
 * Reports every problem: of an object the runner prints only the beginning. A thrown error is rethrown: a
 * mutant is not found by it.
 */
export function expectKept({ seed, problems, outcome, lacks, thrown }: FaultResult): void {
  if (thrown) throw new Error(`seed ${seed}:\n${problems.join('\n')}`);
  expect(problems, `seed ${seed}:\n${problems.join('\n')}`).toEqual([]);
  expect(outcome, lacks).toBe('kept');
}
