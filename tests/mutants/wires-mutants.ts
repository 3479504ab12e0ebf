import { mutant } from './mutant-row.ts';

const COUNT_EVENTS = 'ingest/events/count-events.test.ts';
const FORWARD = 'ingest/forward/forward.test.ts';
const FEED_STREAM = 'control-plane/entitlements/feed/feed-stream.test.ts';
const FEED = 'control-plane/entitlements/feed/entitlement-feed.store.test.ts';

/** Events in the formats of other systems, and the feed of entitlements. */
export const WIRES_MUTANTS = [
  mutant('rejected-event-acknowledged', [1])
    .why('a client of OpenMeter, which reads nothing but the status, never sends a rejected event again')
    .always('ingest/events/events-response')
    .red(COUNT_EVENTS, 'without it one rejected event makes the response an error that names it'),
  mutant('streams-among-requests', [13])
    .why('512 feeds of entitlements leave no other request a place')
    .never('ingest/forward/forward')
    .red(FORWARD, 'keeps places of their own for responses that go on'),
  mutant('slow-feed-kept', [9])
    .why('what a client of the feed does not read fills the memory')
    .always('control-plane/entitlements/feed/feed-stream')
    .red(FEED_STREAM, 'a client that reads nothing is cut off at a bounded number of bytes'),
  mutant('resumed-feed-skips-changes', [18])
    .why('a client of the feed goes on deciding by what was changed while it was disconnected')
    .always('control-plane/entitlements/feed/entitlement-feed')
    .red(FEED, 'goes on where a client was, and begins again where that is not known'),
];
