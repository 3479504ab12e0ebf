import { mutant } from './mutant-row.ts';

const COUNT_EVENTS = 'ingest/events/count-events.test.ts';
const FORWARD = 'ingest/forward/forward.test.ts';
const COMMON_EVENTS = 'ingest/events/common-events.test.ts';
const FEED_STATE = 'control-plane/entitlements/feed/feed-state.test.ts';
const SEEN_FEED = 'control-plane/entitlements/feed/entitlement-feed.test.ts';
const FEED_STREAM = 'control-plane/entitlements/feed/feed-stream.test.ts';
const FEED = 'control-plane/entitlements/feed/entitlement-feed.store.test.ts';

/** Events in the formats of other systems, and the feed of entitlements. */
export const WIRES_MUTANTS = [
  mutant('unstorable-name-read', [18])
    .why('a name with U+0000 has the statement fail that reads it with others: no stream with it begins')
    .never('control-plane/entitlements/feed/feed-reader')
    .red(FEED, 'begins with what a check would return, of each customer that it names'),
  mutant('rejected-event-acknowledged', [1])
    .why('a client of OpenMeter, which reads nothing but the status, never sends a rejected event again')
    .always('ingest/events/events-response')
    .red(COUNT_EVENTS, 'without it one rejected event makes the response an error that names it'),
  mutant('filtered-event-common', [4])
    .why('CloudEvents that a meter filters out are counted, where the fast way reads them')
    .never('ingest/events/common-events')
    .red(COMMON_EVENTS, 'an event that its meter filters is left to the other way'),
  mutant('streams-among-requests', [13])
    .why('512 feeds of entitlements leave no other request a place')
    .never('ingest/forward/forward')
    .red(FORWARD, 'keeps places of their own for responses that go on'),
  mutant('slow-feed-kept', [9])
    .why('what a client of the feed does not read fills the memory')
    .always('control-plane/entitlements/feed/feed-stream')
    .red(FEED_STREAM, 'a client that reads nothing is cut off at a bounded number of bytes'),
  mutant('unread-bytes-unbounded', [9])
    .why('what 6,000 clients of the feed do not read fills the memory, none of them with too much')
    .never('control-plane/entitlements/feed/unread-bytes')
    .red(
      FEED_STREAM,
      'all streams together hold a bounded number of bytes at any time; the slowest go first',
    ),
  mutant('large-customer-fed', [9])
    .why('one customer with thousands of add-ons cuts off each feed that names it')
    .never('control-plane/entitlements/feed/feed-state')
    .red(FEED_STATE, 'a customer whose decisions have more than a MiB is left to the server'),
  mutant('forgotten-customer-resumed', [18])
    .why('a client of the feed goes on deciding about a customer that no feed tells it of any more')
    .is('control-plane/entitlements/feed/seen-customers', 'known?.since.delete(customer);')
    .red(SEEN_FEED, 'a feed of seen customers begins again once one of them is forgotten and others are not'),
  mutant('resumed-feed-skips-changes', [18])
    .why('a client of the feed goes on deciding by what was changed while it was disconnected')
    .always('control-plane/entitlements/feed/entitlement-feed')
    .red(FEED, 'goes on where a client was, and begins again where that is not known'),
];
