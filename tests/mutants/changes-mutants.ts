import type { Mutant } from './mutant.ts';

/** Half a change of the API, and one that is made twice. */
export const CHANGES_MUTANTS: readonly Mutant[] = [
  {
    name: 'event-outside-its-transaction',
    promises: [20],
    why: 'a kill in between leaves a change without its event',
    module: 'control-plane/changes/record-change',
    find: 'await emitEvents(db, { environment, nowMs, events: notified });',
    replace: 'setTimeout(() => emitEvents(db, { environment, nowMs, events: notified }).catch(() => 0), 50);',
    provedBy: [],
    shownBy: { promise: 20, rounds: 3 },
  },
  {
    name: 'response-stored-outside-its-transaction',
    promises: [20],
    why: 'a change whose response was lost takes effect a second time when it is retried',
    module: 'control-plane/http/idempotent',
    find: 'await keepAnswer(client, place, { requestHash, status: response.status, body });',
    replace: `const late = { requestHash, status: response.status, body };
      setTimeout(() => keepAnswer(client, place, late).catch(() => 0), 50);`,
    provedBy: [],
    shownBy: { promise: 20, rounds: 3 },
  },
];
