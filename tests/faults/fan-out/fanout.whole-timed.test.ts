import { expect, it } from 'vitest';
import { expectKept } from '../expect-kept.ts';
import { runPromise } from '../run-promise.ts';
import { fanoutKilled } from './fanout-rounds.ts';

const SEED = Date.now() % 1_000_000;

/** The short form of promise 22. Seen red with each of its mutants (tests/mutants/changes-mutants.ts). */
it(`subscribers of a plan that changes are notified once, whatever is killed (seed ${SEED})`, async () => {
  const { rounds } = fanoutKilled;
  const result = await runPromise(fanoutKilled, { seed: SEED, rounds: rounds.short, form: 'short' });
  expectKept(result);
  expect(result.counts).toMatchObject({ changes: 1, eventsNotified: 10_000 });
}, 420_000);
