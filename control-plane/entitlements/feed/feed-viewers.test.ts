import { expect, test } from 'vitest';
import { systemClock } from '../../../infra/ports/clock.ts';
import { createFeedViewers, FEED_LIMITS, type FeedViewer } from './feed-viewers.ts';
import { createSeenCustomers } from './seen-customers.ts';
import { createWatchedCustomers } from './watched-customers.ts';

const VIEWER: FeedViewer = {
  ...{ environment: 'ws:live', names: undefined, lastEventId: undefined },
  ...{ heartbeatMs: 15_000, forMs: 60_000, isAllowed: async () => true },
};

/** Red when only the customers that a feed names have places: 5,000 feeds of 2,000 seen ones fill a GiB. */
test('customers that were seen have places as those that are named', () => {
  const limits = { ...FEED_LIMITS, placesMax: 5 };
  const watched = createWatchedCustomers();
  const viewers = createFeedViewers({ clock: systemClock, watched, limits });
  const ids = ['a', 'b', 'c'];
  const customers = { seen: () => ids };
  const seen = createSeenCustomers({ customers, watched, viewers, limits });
  const open = () => {
    const of = seen.of('ws:live');
    const feed = viewers.admit(VIEWER, { customers: of.size, isResumed: false, position: () => 'at' });
    for (const customer of of.keys()) viewers.join(feed, customer, false);
    return feed;
  };
  const feeds = [open(), open()];
  seen.find();
  // A third one has no place in both of them, so it has one in none.
  expect(feeds.map((feed) => feed.customers.size)).toEqual([2, 2]);
  expect(seen.of('ws:live').size).toBe(2);
  expect(open).toThrow('Too many feeds');
  for (const { stream } of feeds) stream.body.destroy();
});

/** Red when one environment's customer that cannot be read makes the decisions of all others look old. */
test('each environment has a heartbeat of its own', () => {
  const watched = createWatchedCustomers();
  const viewers = createFeedViewers({ clock: systemClock, watched, limits: FEED_LIMITS });
  const feeds = ['ws_a:live', 'ws_a:live', 'ws_b:live'].map((environment) => {
    return viewers.admit(
      { ...VIEWER, environment },
      { customers: 0, isResumed: false, position: () => 'at' },
    );
  });
  const asked: string[] = [];
  viewers.second((environment) => {
    asked.push(environment);
    return Buffer.from(`event: time\ndata: ${environment}\n\n`);
  });
  expect(asked).toEqual(['ws_a:live', 'ws_b:live']);
  const said = feeds.map(({ stream }) => /data: (ws\w+:live)/.exec(String(stream.body.read()))?.[1]);
  expect(said).toEqual(['ws_a:live', 'ws_a:live', 'ws_b:live']);
  for (const { stream } of feeds) stream.body.destroy();
});
