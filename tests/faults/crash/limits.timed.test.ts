import { expect, it } from 'vitest';
import { keptShortForm } from '../short-form.ts';
import { boundedMemory } from './memory-rounds.ts';
import { quickRestart } from './restart-rounds.ts';

/*
 * The short forms of promises 9 and 11. Mutants they find: a queue without a bound, or bounded by count; keys
 * rebuilt from the log at each start, or not brought up to it.
 */
it('the data plane stays within its memory, whatever is offered', async () => {
  await keptShortForm(boundedMemory, { seed: 9 });
}, 240_000);

it('the data plane acknowledges again two seconds after a kill, with all its keys', async () => {
  const { counts, peaks } = await keptShortForm(quickRestart, { seed: 11 });
  expect(peaks.keys).toBeGreaterThanOrEqual(1_000_000);
  expect(counts.replaysOfAcknowledged).toBeGreaterThan(1_000);
}, 420_000);
