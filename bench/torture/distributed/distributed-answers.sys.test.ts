import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { runPromise } from '../run-promise.ts';
import { distributedAnswersLost } from './lost-answers.ts';

/*
 * The short form: 20 answers on each of the two hops, the first of each a connection that is never heard of
 * again. Seen red with: kafkajs as it is (connections that are cut off in an answer, fall silent or are just
 * ending), a connection to the key store that is kept when it is silent.
 */
it('an answer of broker or key store that never arrives changes nothing', async () => {
  const seed = randomInt(1_000_000);
  const { short: rounds } = distributedAnswersLost.rounds;
  const result = await runPromise(distributedAnswersLost, { seed, rounds, form: 'short' });
  expect(result, `seed ${seed}`).toMatchObject({ problems: [], outcome: 'kept' });
  expect(result.counts.answersLostOfKafka).toBeGreaterThanOrEqual(20);
  expect(result.counts.answersLostOfRedis).toBeGreaterThanOrEqual(20);
});
