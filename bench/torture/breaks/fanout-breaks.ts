import type { Break } from './break.ts';

const TELLER_TEST = 'control-plane/told/entitlement-teller.store.test.ts';

/** Changes that touch many customers, some of whom are not told. */
export const FANOUT_BREAKS: readonly Break[] = [
  {
    name: 'position-noted-before-customers-are-told',
    promises: [22],
    why: 'a kill in between leaves customers that nobody comes back to',
    module: 'control-plane/told/fan-out',
    find: 'const events = await tellCustomers(db, { environment, nowMs, sinceMs }, rows);',
    replace: `const last = members.length < chunk ? undefined : members.at(-1);
      await noteProgress(db, job, { last, nowMs });
      await db.query('COMMIT');
      await db.query('BEGIN');
      const events = await tellCustomers(db, { environment, nowMs, sinceMs }, rows);`,
    provedBy: [
      { test: TELLER_TEST, title: 'is told to each of them once, whichever tellers are cut off within it' },
    ],
    shownBy: { promise: 22, rounds: 4 },
  },
  {
    name: 'second-change-forgotten',
    promises: [22],
    why: 'who was gone through before the plan changed once more is told of its first change alone',
    module: 'control-plane/store/fanout-jobs',
    find: 'SET round_to = was.position, is_round = false',
    replace: 'SET round_to = was.round_to, is_round = false',
    provedBy: [
      {
        test: TELLER_TEST,
        title: 'once more while nobody tells of it is told to those who were told already, too',
      },
    ],
  },
  {
    name: 'change-without-the-lock',
    promises: [22],
    why: 'who subscribes at that moment is told of the plan as it was, and no job finds him',
    module: 'control-plane/told/touch-entitlements',
    find: 'await lockEntitlements(db, environment);',
    replace: 'await shareEntitlements(db, environment);',
    provedBy: [
      {
        test: TELLER_TEST,
        title: 'a plan that changes waits for whoever subscribes to it meanwhile, who saw it as it was',
      },
    ],
  },
];
