import { mutant } from './mutant-row.ts';

const NOTIFIER = 'control-plane/entitlements/changes/change-notifier.whole-store.test.ts';
const MEMBERS = 'control-plane/entitlements/changes/feature-members.whole-store.test.ts';

/** Half a change of the API, one that is made twice, and one that many customers have to be notified of. */
export const CHANGE_MUTANTS = [
  mutant('event-outside-its-transaction', [20])
    .why('a kill in between leaves a change without its event')
    .is(
      'control-plane/changes/record-change',
      'setTimeout(() => emitEvents(db, { environment, nowMs, events: notified }).catch(() => 0), 50);',
    )
    .shownBy({ promise: 20, rounds: 3 }),
  mutant('response-stored-outside-its-transaction', [20])
    .why('a change whose response was lost takes effect a second time when it is retried')
    .is(
      'control-plane/http/idempotent',
      `const late = { requestHash, status: response.status, body };
      setTimeout(() => storeResponse(client, place, late).catch(() => 0), 50);`,
    )
    .shownBy({ promise: 20, rounds: 3 }),
  mutant('position-stored-before-notifications', [22])
    .why('a kill in between leaves customers that nobody comes back to')
    .before(
      'control-plane/entitlements/changes/fan-out',
      `const last = members.length < chunk ? undefined : members.at(-1);
      await noteProgress(db, job, { last, nowMs });
      await db.query('COMMIT');
      await db.query('BEGIN');`,
    )
    .red(NOTIFIER, 'is notified to each of them once, whichever notifiers are cut off within it')
    .shownBy({ promise: 22, rounds: 4 }),
  mutant('second-change-forgotten', [22])
    .why('customers processed before the plan changed once more are notified of its first change alone')
    .swap('control-plane/store/fanout-jobs#requestFanout', 'was.position', 'was.round_to')
    .red(NOTIFIER, 'once more while no notifier runs is notified to those already notified, too'),
  mutant('change-without-the-lock', [22])
    .why('a customer who subscribes at that time is notified of the plan as it was, and no job finds him')
    .is('control-plane/entitlements/changes/touch-entitlements', 'await shareEntitlements(db, environment);')
    .red(NOTIFIER, 'a plan change waits for a customer that subscribes meanwhile, with the old plan in view'),
  mutant('meter-of-a-feature-changed-in-silence', [22])
    .why('usage of the new meter burns credits as if there were no limit, and the former meter keeps one')
    .never('control-plane/routes/features')
    .red(
      MEMBERS,
      'a feature that counts another meter limits that one from then on, and the former no longer',
    ),
  mutant('customers-of-a-deleted-feature-by-last-notification', [22])
    .why('a customer who held it at 0 or in a paused subscription keeps a history that says so')
    .swap('control-plane/store/fanout-members#customersOfFeature', 'meter_key = $6', '$6::text IS NULL')
    .red(MEMBERS, 'a deleted feature limits no customer any more, also customers that had nothing of it'),
];
