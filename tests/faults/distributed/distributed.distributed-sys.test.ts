import { expect, it } from 'vitest';
import { keptShortForm } from '../short-form.ts';
import { distributedFaults } from './distributed-rounds.ts';

/*
 * The short form, most of it servers and eight processes that start; in the end responses, counters,
 * breakdowns and stored events are compared with the ledger. `npm run torture` has all faults, with hangs of
 * 30 s, and the same comparison for 200,000 events (distributed-rounds.ts).
 *
 * Seen red with: a replay of an old event shown with its own occurredAt.
 */
it('what is acknowledged is counted once, whatever process is killed or store hangs', async () => {
  const { counts } = await keptShortForm(distributedFaults);
  expect(counts).toMatchObject({
    ...{ killsOfIngest: 1, killsOfKafka: 1, killsOfAggregator: 1 },
    ...{ hangsOfRedis: 1, wipesOfRedis: 1 },
  });
});
