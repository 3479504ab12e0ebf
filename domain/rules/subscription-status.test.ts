import { expect, it } from 'vitest';
import { FIRST_STATUSES, SUBSCRIPTION_STATUSES } from '../../schemas/value-sets.ts';
import { hasEnded, nextStatuses } from './subscription-status.ts';

/*
 * The allowed transitions, written a second time. Mutants that turn it red: any status added to a row
 * of the rule, or taken from it.
 */
const LEGAL: Record<string, string> = {
  incomplete: 'active, trialing, incomplete_expired, canceled',
  trialing: 'active, past_due, paused, canceled',
  active: 'past_due, unpaid, paused, canceled',
  past_due: 'active, unpaid, paused, canceled',
  unpaid: 'active, canceled',
  paused: 'active, canceled',
  canceled: '',
  incomplete_expired: '',
};

it('each status may change to what the contract allows, and to nothing else', () => {
  expect([...SUBSCRIPTION_STATUSES].sort()).toEqual(Object.keys(LEGAL).sort());
  for (const from of SUBSCRIPTION_STATUSES) {
    expect([...nextStatuses(from)].join(', ')).toBe(LEGAL[from]);
    expect(hasEnded(from)).toBe(LEGAL[from] === '');
  }
});

it('a subscription begins in one of five', () => {
  expect(FIRST_STATUSES.join(', ')).toBe('incomplete, trialing, active, past_due, paused');
});
