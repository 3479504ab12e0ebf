import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { runPromise } from '../run-promise.ts';
import { distributedExact } from './distributed-exact.ts';
import { distributedFaults } from './distributed-rounds.ts';

/*
 * The short forms; `npm run torture` runs the long ones: 200,000 events, every process and every store, hangs of
 * 30 s. Both begin with servers and eight processes, most of their time.
 */
it('two processes of each role count every event exactly', async () => {
  const seed = randomInt(1_000_000);
  const result = await runPromise(distributedExact, { seed, rounds: 1, form: 'short' });
  expect(result, `seed ${seed}`).toMatchObject({ problems: [], outcome: 'kept' });
});

it('what is acknowledged is counted once, whoever is killed and whichever store hangs', async () => {
  const seed = randomInt(1_000_000);
  const { short: rounds } = distributedFaults.rounds;
  const result = await runPromise(distributedFaults, { seed, rounds, form: 'short' });
  expect(result, `seed ${seed}`).toMatchObject({ problems: [], outcome: 'kept' });
  expect(result.counts).toMatchObject({
    killsOfIngest: 1,
    killsOfKafka: 1,
    killsOfAggregator: 1,
    hangsOfRedis: 1,
  });
});
