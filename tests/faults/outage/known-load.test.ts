import { expect, it } from 'vitest';
import { pauseFor, responsesMin } from './known-load.ts';
import { LONG_OUTAGE_MS } from './outage-probes.ts';

const SENDERS = 4;
/** With the copies: a fifth of the requests is sent twice at once. */
const REQUESTS_PER_SENDER = 1.2;

// Red with one pause for all: the ledger of the longest outage then has gigabytes of events.
const OUTAGES_MS = [3_000, 60_000, 90_000, LONG_OUTAGE_MS];

it.each(OUTAGES_MS)('%d ms see 3,000 requests at most', (outageMs) => {
  expect((outageMs / pauseFor(outageMs)) * SENDERS * REQUESTS_PER_SENDER).toBeLessThanOrEqual(3_000);
});

// What was in flight when the store failed gets its response by itself: two requests of each sender.
it.each(OUTAGES_MS)('of %d ms more responses are required than were in flight', (outageMs) => {
  expect(responsesMin(outageMs)).toBeGreaterThan(5 * 2 * SENDERS);
});

it('in the longest outage a request comes so often that a silence is one of the product', () => {
  const everyMs = pauseFor(LONG_OUTAGE_MS) / SENDERS;
  expect(everyMs).toBeGreaterThan(200);
  expect(everyMs).toBeLessThan(300);
});
