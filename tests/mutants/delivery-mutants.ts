import { mutant } from './mutant-row.ts';

const DISPATCH = 'delivery/dispatch/dispatch.store.test.ts';
const FAN_OUT = 'delivery/fan-out.store.test.ts';
const FAIR = 'delivery/dispatch/fair-dispatch.store.test.ts';
const WEBHOOKS = 'tests/faults/webhooks/webhooks.whole-timed.test.ts';
const UNWELL = 'delivery/unwell-endpoints.whole-store.test.ts';
const CHANGED_ENDPOINTS = 'delivery/changed-endpoints.store.test.ts';
const RECORD_ATTEMPTS = 'delivery/dispatch/record-attempts.store.test.ts';
const SIGNING = 'delivery/send/signatures.test.ts';
const GUARD = 'delivery/send/endpoint-guard.test.ts';
const HELD_UP = /for the deliveries to healthy endpoints/;

/** From the outbox to a receiver, and what follows from each attempt. */
export const DELIVERY_MUTANTS = [
  mutant('delivery-marked-before-sent', [12])
    .why('what was in flight at a kill, or fails, is taken for delivered and never comes')
    .before(
      'delivery/dispatch/dispatcher',
      `const nowMs = clock.nowMs();
      recorder.add({
        delivery: job.delivery, number: job.delivery.attempts + 1, state: 'succeeded', dueAtMs: undefined,
        startedAtMs: nowMs, endedAtMs: nowMs, endpointUpdatedAt: job.target.updatedAt,
        attempt: { outcome: 'succeeded', durationMs: 0, requestHead: '' },
      });`,
    )
    .red(DISPATCH, 'whose process dies in the middle of its attempt is sent again, under the same id')
    .shownBy({ promise: 12, rounds: 5 }),
  mutant('outbox-outside-its-transaction', [12])
    .why('a kill after the mark and before the deliveries leaves an event that no endpoint receives')
    .is(
      'delivery/fan-out',
      `const alone = async (...query) => {
        const isLast = query[0].includes('INSERT INTO webhook_deliveries');
        if (isLast) await new Promise((wake) => setTimeout(wake, 100));
        return pool.query(...query);
      };
      return inTransaction(pool, () => fanOutBatch({ query: alone }, now));`,
    )
    .red(FAN_OUT, 'whose deliveries cannot be made waits, and is sent later')
    // Of five kills none may have come in between. It waits there alone: with a wait at each statement,
    // fifteen kills on a machine with ten busy processes missed it once.
    .shownBy({ promise: 12, rounds: 15 }),
  mutant('one-global-queue', [13])
    .why('five attempts that hang are all that the process makes')
    .is('delivery/dispatch/take-jobs', "return 'all';")
    .red(FAIR, 'an endpoint that hangs takes five attempts and holds up no other')
    .red(WEBHOOKS, 'endpoints that send no response hold up no other', HELD_UP)
    .shownBy({ promise: 13, rounds: 1, stopsWith: HELD_UP }),
  mutant('new-id-for-a-retry', [5, 12])
    .why('a receiver that processed it, and whose response was lost, cannot recognise the same event')
    .is(
      'delivery/dispatch/attempt-job',
      'const { body, attempts } = delivery; const eventId = attempts > 0 ? delivery.id : delivery.eventId;',
    )
    .red(DISPATCH, 'that fails is tried ten times, each at its time and not before, and then has failed')
    .red(WEBHOOKS, 'an event whose response was lost is sent again, and is the same one'),
  mutant('circuit-never-opens', [13])
    .why('an endpoint that is down takes its share of all attempts for days, and its deliveries lose theirs')
    .never('delivery/dispatch/circuit')
    .red(UNWELL, 'is left alone after ten failures in a row, and what waits for it has lost no attempt'),
  mutant('leases-waited-for', [12])
    .why('after a kill half a minute passes before what was taken is sent')
    .drop('delivery/dispatch/dispatcher')
    .red(FAIR, 'a process that starts again under the same name sends at once what it had in flight'),
  mutant('old-url-speaks-for-the-new', [12])
    .why('a receiver that was left says 410 at last, and the endpoint that took its place is disabled')
    .is('delivery/dispatch/after-verdicts', 'const own = ofIt;')
    .red(CHANGED_ENDPOINTS, 'is sent to its new url, whatever the old one responds at last'),
  mutant('queues-with-nothing-to-send', [13])
    .why('endpoints all of whose deliveries are in flight take the places of those that wait')
    .swap(
      'delivery/store/take-due#takeDue',
      'q.endpoint_id = e.id AND q.due_at <= $1',
      'q.endpoint_id = e.id OR true',
    )
    .red(FAIR, 'one event is sent at once despite more hanging endpoints than one query takes'),
  mutant('failures-counted-again', [5])
    .why('five failures whose COMMIT has no response count as ten, and the endpoint is skipped without need')
    .is('delivery/dispatch/after-verdicts', 'const fresh = verdicts;')
    .red(RECORD_ATTEMPTS, 'counts once when the response to its COMMIT is lost'),
  mutant('body-re-serialised-before-signing', [14])
    .why('what is signed is not what is sent: no receiver can verify it')
    .swap('delivery/send/send', 'body,', 'body: Buffer.from(JSON.stringify(JSON.parse(request.body))),')
    .red(SIGNING, 'of any body is verified by stripe and standardwebhooks, and by none with a bit flipped'),
  mutant('old-secret-left-out', [14])
    .why('a receiver that has not adopted the new secret yet rejects everything from the rotation on')
    .swap('delivery/send/sign', 'secrets.map', 'secrets.slice(0, 1).map')
    .red(SIGNING, 'is signed with the old secret too while both are good, and then with the new one alone'),
  mutant('address-checked-before-fetched-after', [15])
    .why('the name is resolved again to connect, and now leads to an internal address')
    .swap('delivery/send/pinned-pools', '{ ...options, hostname: address }', 'options')
    .red(GUARD, 'of a name that resolves to another address the second time reaches nothing'),
  mutant('first-address-checked-alone', [15])
    .why('a name with a public address in front gets at the internal one behind it')
    .swap('delivery/send/endpoint-guard', 'addresses.every', 'addresses.slice(0, 1).every')
    .red(GUARD, 'of a name with one address of the inside among others reaches nothing'),
  mutant('names-checked-and-literals-not', [15])
    .why('an address in the url itself is never resolved and so is never checked')
    .before('delivery/send/endpoint-guard', 'if (isIP(host) !== 0) return addresses;')
    .red(GUARD, 'to 60 and more ways to write an internal address reaches nothing'),
  mutant('metadata-where-private-is-allowed', [15])
    .why('where webhooks may go to private addresses they fetch the credentials of the whole machine')
    .never('infra/platform/private-targets')
    .red(GUARD, 'reaches neither a link-local address nor a metadata service, in any form'),
  mutant('any-name-leads-to-loopback', [15])
    .why('a tenant with a domain and a test key reaches every port of the machine by a name of theirs')
    .never('delivery/send/endpoint-guard')
    .red(GUARD, 'by a name of the DNS that leads there reaches nothing'),
];
