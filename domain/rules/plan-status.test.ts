import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PLAN_STATUSES } from '../../schemas/value-sets.ts';
import { nextPlanStatuses, versionAfterChange } from './plan-status.ts';

/*
 * The allowed transitions, written a second time. Mutants that turn it red: any status added to
 * a row of the rule, or taken from it; an archived plan changed in place, or a draft that has pins.
 */
const LEGAL = ['draft published', 'draft archived', 'published archived'];

it('each status may change to what the contract allows, and to nothing else', () => {
  for (const from of PLAN_STATUSES) {
    for (const to of PLAN_STATUSES) {
      expect([from, to, nextPlanStatuses(from).includes(to)]).toEqual([
        from,
        to,
        LEGAL.includes(`${from} ${to}`),
      ]);
    }
  }
});

it('only a draft that nothing is pinned to is changed within its version', () => {
  const plans = fc.record({
    status: fc.constantFrom(...PLAN_STATUSES),
    version: fc.nat(1_000_000),
    isPinned: fc.boolean(),
  });
  fc.assert(
    fc.property(plans, (plan) => {
      const isInPlace = plan.status === 'draft' && !plan.isPinned;
      expect(versionAfterChange(plan)).toBe(isInPlace ? plan.version : plan.version + 1);
    }),
  );
});
