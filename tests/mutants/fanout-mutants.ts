import type { Mutant } from './mutant.ts';

const NOTIFIER_TEST = 'control-plane/entitlements/changes/change-notifier.store.test.ts';
const FEATURE_TEST = 'control-plane/entitlements/changes/feature-members.store.test.ts';

/** Changes that touch many customers, some of whom receive no notification. */
export const FANOUT_MUTANTS: readonly Mutant[] = [
  {
    name: 'position-stored-before-notifications',
    promises: [22],
    why: 'a kill in between leaves customers that nobody comes back to',
    module: 'control-plane/entitlements/changes/fan-out',
    find: 'const events = await notifyCustomers(db, { environment, nowMs, sinceMs }, rows);',
    replace: `const last = members.length < chunk ? undefined : members.at(-1);
      await noteProgress(db, job, { last, nowMs });
      await db.query('COMMIT');
      await db.query('BEGIN');
      const events = await notifyCustomers(db, { environment, nowMs, sinceMs }, rows);`,
    provedBy: [
      {
        test: NOTIFIER_TEST,
        title: 'is notified to each of them once, whichever notifiers are cut off within it',
      },
    ],
    shownBy: { promise: 22, rounds: 4 },
  },
  {
    name: 'second-change-forgotten',
    promises: [22],
    why: 'customers processed before the plan changed once more are notified of its first change alone',
    module: 'control-plane/store/fanout-jobs',
    find: 'SET round_to = was.position, is_round = false',
    replace: 'SET round_to = was.round_to, is_round = false',
    provedBy: [
      {
        test: NOTIFIER_TEST,
        title: 'once more while no notifier runs is notified to those already notified, too',
      },
    ],
  },
  {
    name: 'change-without-the-lock',
    promises: [22],
    why: 'a customer who subscribes at that time is notified of the plan as it was, and no job finds him',
    module: 'control-plane/entitlements/changes/touch-entitlements',
    find: 'await lockEntitlements(db, environment);',
    replace: 'await shareEntitlements(db, environment);',
    provedBy: [
      {
        test: NOTIFIER_TEST,
        title: 'a plan change waits for a customer that subscribes meanwhile, with the old plan in view',
      },
    ],
  },
  {
    name: 'meter-of-a-feature-changed-in-silence',
    promises: [22],
    why: 'usage of the new meter burns credits as if there were no limit, and the former meter keeps one',
    module: 'control-plane/routes/features',
    find: 'if (updated.meterKey !== row.meterKey)',
    replace: 'if (updated.meterKey === undefined)',
    provedBy: [
      {
        test: FEATURE_TEST,
        title: 'a feature that counts another meter limits that one from then on, and the former no longer',
      },
    ],
  },
  {
    name: 'customers-of-a-deleted-feature-by-last-notification',
    promises: [22],
    why: 'a customer who held it at 0 or in a paused subscription keeps a history that says so',
    module: 'control-plane/store/fanout-members',
    find: 'AND meter_key = $6 AND',
    replace: 'AND $6::text IS NULL AND',
    provedBy: [
      {
        test: FEATURE_TEST,
        title: 'a feature that is deleted limits nobody any more, also those who held nothing of it',
      },
    ],
  },
];
