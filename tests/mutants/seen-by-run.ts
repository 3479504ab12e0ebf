import { PROMISES } from '../faults/promises.ts';
import type { Mutant } from './mutant.ts';

/** The short forms, and other tests of processes, by the promises they are the test of. */
export const RUNS: Record<string, readonly number[]> = {
  'tests/faults/outage/outage.timed.test.ts': [5, 8],
  'tests/clients/node-kills.sys.test.ts': [23],
  'tests/clients/python-kills.sys.test.ts': [23],
  'tests/faults/fuzz/fuzz.timed.test.ts': [7],
  'tests/faults/crash/limits.timed.test.ts': [9, 11],
  'tests/faults/crash-consistency/disk.sys.test.ts': [10],
  'tests/faults/crash-consistency/power-cut.sys.test.ts': [6],
  'tests/faults/upgrade/rejected-data.sys.test.ts': [17, 19],
  'tests/faults/upgrade/upgrade.whole.test.ts': [19],
  'tests/faults/webhooks/webhooks.whole-timed.test.ts': [5, 12, 13],
  'tests/tenancy/tenancy.whole.test.ts': [16, 17, 18],
};

/** Whether the promise's own run on whole processes turns red with it; else a test of its module does. */
export function isSeenByRunOf({ provedBy, shownBy }: Mutant, promise: number): boolean {
  const run = shownBy && PROMISES.find(({ promises }) => promises.includes(shownBy.promise));
  return run?.promises.includes(promise) || provedBy.some(({ test }) => RUNS[test]?.includes(promise));
}
