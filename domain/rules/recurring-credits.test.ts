import { expect, it } from 'vitest';
import { creditUnits } from './credit-units.ts';
import { partsDue } from './recurring-credits.ts';
import { compareHistories } from './recurring-histories-under-test.ts';

/*
 * What plans grant, against a model that walks from noon to noon: over histories of half a year with changes
 * of the plan and the status, usage on time and late, and grants that are made late or all at once.
 *
 * Mutants that turn it red: a month without its anchor; a period granted twice by two plans; the grant of a
 * plan that holds now and not when the period began; a rollover of a period's own grant alone, before its
 * maximum, or of a period that was skipped.
 */
it('agree with a slow model over random histories', () => compareHistories(1_500));

it('rolls over to the last digit, rounded down', () => {
  const grant = { key: 'a', amount: '1', every: 'period', priority: 1, expires: 'period_end' } as const;
  const third = { ...grant, rollover: { percent: '33.333333333333' } };
  const soFar = { granted: 0n, nextPart: 1, lapsed: creditUnits('1') };
  expect(partsDue(third, soFar, { isOtherPlan: false })).toEqual([
    { part: 0, units: creditUnits('0.33333333333333') },
    { part: 1, units: creditUnits('1') },
  ]);
});
