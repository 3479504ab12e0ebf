import { describe, expect, it, vi } from 'vitest';
import { callDone } from '../tests/support/api.ts';
import { startInstallation } from '../tests/support/distributed-installation.ts';
import { ofThisFile } from '../tests/support/of-this-file.ts';
import { type WatchedFeed, watchFeed } from '../tests/support/watch-feed.ts';

/*
 * The feed of entitlements of two control planes, over Kafka: each tells of what any of them changes, and of
 * what is counted.
 *
 * Breaks that it catches: a change through one control plane that the feeds of the other have late or never;
 * usage that one of them alone has; a client that goes to the other one with its id and misses what changed.
 */
const installation = await ofThisFile(
  startInstallation({ processes: 1, but: { 'control-plane': 2 }, connections: 2 }),
  ({ close }) => close(),
);
const { judged, keys, roles } = installation;
const { api } = judged;
const FEATURE = 'fed_calls';
/** Of a busy machine: what is counted is asked for a second at a time. */
const SOON = { timeout: 30_000, interval: 50 };

await callDone(api, 'POST', '/features', {
  ...{ key: FEATURE, name: FEATURE, type: 'metered' },
  meterKey: 'api_calls',
});

/** Of the control plane with this number, past ingest. */
function watch(number: number, customerId: string, lastEventId?: string): Promise<WatchedFeed> {
  const port = roles['control-plane'][number]?.address.port;
  const url = `http://127.0.0.1:${port}/api/v1/entitlements/feed?customerIds=${customerId}`;
  return watchFeed(url, keys.live.secret, lastEventId);
}

const limitTo = (customerId: string, value: number) =>
  callDone(api, 'PUT', `/customers/${customerId}/overrides/${FEATURE}`, { value });

let sent = 0;

async function use(customerId: string, value: number): Promise<void> {
  sent += 1;
  const event = { customerId, meterId: 'api_calls', value, idempotencyKey: `fed-${sent}` };
  await callDone(api, 'POST', '/usage/events', event);
}

const tells = (feed: WatchedFeed, customerId: string, decision: object) =>
  vi.waitFor(() => expect(feed.customer(customerId)?.decisions[FEATURE]).toMatchObject(decision), SOON);

const made = async (name: string) =>
  String((await callDone(api, 'POST', '/customers', { name, email: 'a@b.example' })).id);

describe('feeds of several control planes', () => {
  it('tell each change and what is counted, whichever of them a request reaches', async () => {
    const customerId = await made('Fed');
    await limitTo(customerId, 10);
    const feeds = await Promise.all([0, 1].map((number) => watch(number, customerId)));
    for (const feed of feeds) await tells(feed, customerId, { limit: 10, current: 0 });
    // Requests go to each of them in turn. Without notifications each change takes up to 5 s.
    const beganAtMs = performance.now();
    const limits = Array.from({ length: 8 }, (_, at) => 20 + at);
    for (const limit of limits) {
      await limitTo(customerId, limit);
      for (const feed of feeds) await tells(feed, customerId, { limit });
    }
    expect(performance.now() - beganAtMs).toBeLessThan(20_000);
    for (const current of [3, 6]) {
      await use(customerId, 3);
      for (const feed of feeds) await tells(feed, customerId, { limit: 27, current });
    }
  });

  it('begin again for a client whose control plane was killed', async () => {
    const customerId = await made('Moved');
    await limitTo(customerId, 10);
    const first = await watch(0, customerId);
    await tells(first, customerId, { limit: 10 });
    const id = await vi.waitFor(() => first.lastEventId() ?? Promise.reject(new Error('no id yet')), SOON);
    await roles['control-plane'][0]?.kill();
    await vi.waitFor(() => expect(first.isOver()).toBe(true), SOON);
    await vi.waitFor(() => limitTo(customerId, 20), SOON);
    const second = await watch(1, customerId, id);
    await tells(second, customerId, { limit: 20 });
    expect(second.messages[0]?.data).toMatchObject({ resumed: false });
    await roles['control-plane'][0]?.start();
    const third = await watch(0, customerId, second.lastEventId());
    await tells(third, customerId, { limit: 20 });
  });
});
