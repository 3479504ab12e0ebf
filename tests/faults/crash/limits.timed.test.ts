import { expect, it } from 'vitest';
import { expectKept } from '../expect-kept.ts';
import { runPromise } from '../run-promise.ts';
import { boundedMemory } from './memory-rounds.ts';
import { quickRestart } from './restart-rounds.ts';

/*
 * The short forms of promises 9 and 11. Mutants they find: a queue without a bound, or bounded by count; keys
 * rebuilt from the log at each start, or not brought up to it.
 */
it('the data plane stays within its memory, whatever is offered', async () => {
  const result = await runPromise(boundedMemory, { seed: 9, rounds: 1, form: 'short' });
  expectKept(result);
}, 240_000);

it('the data plane acknowledges again two seconds after a kill, with all its keys', async () => {
  const result = await runPromise(quickRestart, { seed: 11, rounds: 2, form: 'short' });
  expectKept(result);
  expect(result.peaks.keys).toBeGreaterThanOrEqual(1_000_000);
  expect(result.counts.replaysOfAcknowledged).toBeGreaterThan(1_000);
}, 420_000);
