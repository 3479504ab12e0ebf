import { expect, it } from 'vitest';
import { keptShortForm } from '../short-form.ts';
import { storesUnavailable } from './stores-unavailable.ts';
import { unknownOutcomes } from './unknown-outcomes.ts';

/*
 * The short forms of promises 5 and 8. Their own files say what is judged; `npm run torture` runs the
 * long ones.
 */

// Red with the mutant new-token-for-a-retry. What view-without-its-window counts twice is repaired as soon as
// the range is sent again (infra/clickhouse/repair-block.ts): that mutant shows in the tests of its module.
it('counts once what was done while its response was lost, of the client and of the warehouse', async () => {
  const { counts } = await keptShortForm(unknownOutcomes);
  expect(counts.responsesLostOfClient).toBeGreaterThanOrEqual(20);
  expect(counts.responsesLostOfWarehouse).toBeGreaterThanOrEqual(20);
});

// Red with the mutants lookups-wait and known-forgotten-with-postgres; others of promise 8 show in the tests
// of their modules.
it('goes on while ClickHouse or Postgres is dead or hangs, and stops in time while both hang', async () => {
  await keptShortForm(storesUnavailable);
});
