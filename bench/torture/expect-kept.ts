import { expect } from 'vitest';
import type { TortureResult } from './promise.ts';

/** Tells every problem: of an object the runner prints only the beginning. */
export function expectKept({ seed, problems, outcome, lacks }: TortureResult): void {
  expect(problems, `seed ${seed}:\n${problems.join('\n')}`).toEqual([]);
  expect(outcome, lacks).toBe('kept');
}
