import { expect, it } from 'vitest';
import { pauseFor, responsesMin } from './known-load.ts';
import { LONG_OUTAGE_MS } from './long-outage.ts';

const LANES = 4;
/** With the copies: a fifth of the requests is sent twice at once. */
const REQUESTS_A_LANE = 1.2;

// Red with one pause for all: the ledger of the longest outage then has gigabytes of events.
const OUTAGES_MS = [3_000, 60_000, 90_000, LONG_OUTAGE_MS];

it.each(OUTAGES_MS)('%d ms see 3,000 requests at most', (outageMs) => {
  expect((outageMs / pauseFor(outageMs)) * LANES * REQUESTS_A_LANE).toBeLessThanOrEqual(3_000);
});

// What was under way when the store went is answered by itself: two requests of each lane.
it.each(OUTAGES_MS)('of %d ms more answers are asked for than what was under way', (outageMs) => {
  expect(responsesMin(outageMs)).toBeGreaterThan(5 * 2 * LANES);
});

it('in the longest outage a request comes so often that a silence is one of the product', () => {
  const everyMs = pauseFor(LONG_OUTAGE_MS) / LANES;
  expect(everyMs).toBeGreaterThan(200);
  expect(everyMs).toBeLessThan(300);
});
