import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { expectKept } from '../expect-kept.ts';
import type { FaultPromise, FaultResult } from '../promise.ts';
import { runPromise } from '../run-promise.ts';
import { storesUnavailable } from './stores-unavailable.ts';
import { unknownOutcomes } from './unknown-outcomes.ts';

/*
 * The short forms of promises 5 and 8. Their own files say what is judged; `npm run torture` runs the
 * long ones.
 */
function shortForm(promise: FaultPromise): Promise<FaultResult> {
  const seed = randomInt(1_000_000);
  return runPromise(promise, { seed, rounds: promise.rounds.short, form: 'short' });
}

// Red with the mutant new-token-for-a-retry. What view-without-its-window counts twice is repaired as soon as
// the range is sent again (infra/clickhouse/repair-block.ts): that mutant shows in the tests of its module.
it('counts once what was done while its response was lost, of the client and of the warehouse', async () => {
  const result = await shortForm(unknownOutcomes);
  expectKept(result);
  expect(result.counts.responsesLostOfClient).toBeGreaterThanOrEqual(20);
  expect(result.counts.responsesLostOfWarehouse).toBeGreaterThanOrEqual(20);
});

// Red with the mutants lookups-wait and known-forgotten-with-postgres; others of promise 8 show in the tests
// of their modules.
it('goes on while ClickHouse or Postgres is dead or hangs, and stops in time while both hang', async () => {
  const result = await shortForm(storesUnavailable);
  expectKept(result);
});
