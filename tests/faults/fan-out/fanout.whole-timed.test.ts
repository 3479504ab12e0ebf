import { expect, it } from 'vitest';
import { keptShortForm, SEED } from '../short-form.ts';
import { fanoutKilled } from './fanout-rounds.ts';

/** The short form of promise 22. Seen red with each of its mutants (tests/mutants/changes-mutants.ts). */
it(`subscribers of a plan that changes are notified once, whatever is killed (seed ${SEED})`, async () => {
  const { counts } = await keptShortForm(fanoutKilled);
  expect(counts).toMatchObject({ changes: 1, eventsNotified: 10_000 });
}, 420_000);
