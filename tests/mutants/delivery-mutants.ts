import type { Mutant } from './mutant.ts';

const DISPATCH_TEST = 'delivery/dispatch/dispatch.store.test.ts';
const FAIR_TEST = 'delivery/dispatch/fair-dispatch.store.test.ts';
const UNWELL_TEST = 'delivery/unwell-endpoints.store.test.ts';
const WEBHOOKS_TEST = 'tests/faults/webhooks/webhooks.whole-timed.test.ts';
const HELD_UP = /for the deliveries to healthy endpoints/;

/** From the outbox to an attempt, and what follows from it. */
export const DELIVERY_MUTANTS: readonly Mutant[] = [
  {
    name: 'delivery-marked-before-sent',
    promises: [12],
    why: 'what was in flight at a kill, or fails, is taken for delivered and never comes',
    module: 'delivery/dispatch/dispatcher',
    find: 'const verdict = await attemptJob(deps, job);',
    replace: `const nowMs = clock.nowMs();
    recorder.add({
      delivery: job.delivery, number: job.delivery.attempts + 1, state: 'succeeded', dueAtMs: undefined,
      startedAtMs: nowMs, endedAtMs: nowMs,
      attempt: { outcome: 'succeeded', durationMs: 0, requestHead: '' },
    });
    const verdict = await attemptJob(deps, job);`,
    provedBy: [
      {
        test: DISPATCH_TEST,
        title: 'whose process is gone in the middle of its attempt is sent again, under the same id',
      },
    ],
    shownBy: { promise: 12, rounds: 5 },
  },
  {
    name: 'outbox-outside-its-transaction',
    promises: [12],
    why: 'a kill after the mark and before the deliveries leaves an event that no endpoint receives',
    module: 'delivery/fan-out',
    find: 'return inTransaction(pool, (db) => fanOutBatch(db, now));',
    replace: `const alone = async (...query) => {
      await new Promise((wake) => setTimeout(wake, 25));
      return pool.query(...query);
    };
    return inTransaction(pool, () => fanOutBatch({ query: alone }, now));`,
    provedBy: [
      {
        test: 'delivery/fan-out.store.test.ts',
        title: 'whose deliveries cannot be made waits, and is sent later',
      },
    ],
    // Of five kills none may have come in between: one run in three missed it.
    shownBy: { promise: 12, rounds: 15 },
  },
  {
    name: 'one-global-queue',
    promises: [13],
    why: 'five attempts that hang are all that the process makes',
    module: 'delivery/dispatch/take-jobs',
    find: 'return endpointId;',
    replace: "return endpointId ? 'all' : '';",
    provedBy: [
      { test: FAIR_TEST, title: 'an endpoint that hangs takes five attempts and holds up no other' },
      { test: WEBHOOKS_TEST, title: 'endpoints that send no response hold up no other', stopsWith: HELD_UP },
    ],
    shownBy: { promise: 13, rounds: 1, stopsWith: HELD_UP },
  },
  {
    name: 'new-id-for-a-retry',
    promises: [5, 12],
    why: 'a receiver that processed it, and whose response was lost, cannot recognise the same event',
    module: 'delivery/dispatch/attempt-job',
    find: 'const { eventId, body, attempts } = delivery;',
    replace: `const { body, attempts } = delivery;
    const eventId = attempts > 0 ? delivery.id : delivery.eventId;`,
    provedBy: [
      {
        test: DISPATCH_TEST,
        title: 'that fails is tried ten times, each at its time and not before, and then has failed',
      },
      { test: WEBHOOKS_TEST, title: 'an event whose response was lost is sent again, and is the same one' },
    ],
  },
  {
    name: 'circuit-never-opens',
    promises: [13],
    why: 'an endpoint that is down takes its share of all attempts for days, and its deliveries lose theirs',
    module: 'delivery/dispatch/circuit',
    find: 'circuit.untilMs === undefined && failures >= FAILURES_TO_OPEN;',
    replace: 'false;',
    provedBy: [
      {
        test: UNWELL_TEST,
        title: 'is left alone after ten failures in a row, and what waits for it has lost no attempt',
      },
    ],
  },
  {
    name: 'leases-waited-for',
    promises: [12],
    why: 'after a kill half a minute passes before what was taken is sent',
    module: 'delivery/dispatch/dispatcher',
    find: 'if (isNew) await giveBackAll(pool, owner);',
    replace: '',
    provedBy: [
      {
        test: FAIR_TEST,
        title: 'a process that starts again under the same name sends at once what it had in flight',
      },
    ],
  },
  {
    name: 'old-url-speaks-for-the-new',
    promises: [12],
    why: 'a receiver that was left says 410 at last, and the endpoint that took its place is disabled',
    module: 'delivery/dispatch/after-verdicts',
    find: 'ofIt.filter((one) => one.endpointUpdatedAt.getTime() === before.updatedAt.getTime());',
    replace: 'ofIt;',
    provedBy: [
      {
        test: 'delivery/changed-endpoints.store.test.ts',
        title: 'goes to its new url, whatever the old one says at last',
      },
    ],
  },
  {
    name: 'queues-with-nothing-to-send',
    promises: [13],
    why: 'endpoints all of whose deliveries are in flight take the places of those that wait',
    module: 'delivery/store/take-due',
    find: 'WHERE q.endpoint_id = e.id AND q.due_at <= $1',
    replace: 'WHERE q.endpoint_id = e.id OR true',
    provedBy: [
      {
        test: 'delivery/dispatch/fair-dispatch.store.test.ts',
        title: 'one event is sent at once despite more hanging endpoints than one query takes',
      },
    ],
  },
  {
    name: 'failures-counted-again',
    promises: [5],
    why: 'five failures whose COMMIT has no response count as ten, and the endpoint is skipped without need',
    module: 'delivery/dispatch/after-verdicts',
    find: 'verdicts.filter((one) => !recorded.has(one));',
    replace: 'verdicts;',
    provedBy: [
      {
        test: 'delivery/dispatch/record-attempts.store.test.ts',
        title: 'counts once when the response to its COMMIT is lost',
      },
    ],
  },
];
