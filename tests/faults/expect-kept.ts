import { expect } from 'vitest';
import type { FaultResult } from './promise.ts';

/**
 * Tells every problem: of an object the runner prints only the beginning. What was thrown is thrown on: a
 * break is not shown by it.
 */
export function expectKept({ seed, problems, outcome, lacks, thrown }: FaultResult): void {
  if (thrown) throw new Error(`seed ${seed}:\n${problems.join('\n')}`);
  expect(problems, `seed ${seed}:\n${problems.join('\n')}`).toEqual([]);
  expect(outcome, lacks).toBe('kept');
}
