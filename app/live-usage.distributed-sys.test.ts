import { describe, expect, it, vi } from 'vitest';
import { startInstallation } from '../tests/support/distributed-installation.ts';
import { ofThisFile } from '../tests/support/of-this-file.ts';
import { openConnection, requestHead } from '../tests/support/raw-connection.ts';
import { type WatchedUsage, watchLiveUsage } from '../tests/support/watch-live-usage.ts';

/*
 * The live stream where the log is Kafka's: a control plane reads the partitions that an aggregator loads.
 *
 * Breaks that it catches: events of one partition alone; those that the load left out as repeats; another
 * environment's; events beyond 100 in a second lost without a word; a client that reads nothing and keeps its
 * place.
 */
const installation = await ofThisFile(startInstallation({ processes: 1, connections: 4 }), ({ close }) =>
  close(),
);
const { judged, keys, roles } = installation;
const ORIGIN = `http://127.0.0.1:${roles.ingest[0]?.address.port}`;
const LIVE = '/api/v1/usage/live';
const WAIT = { timeout: 60_000, interval: 50 };
/** Of one environment. */
const STREAMS_MAX = 10;

const watch = (key = keys.live.secret) => watchLiveUsage(`${ORIGIN}${LIVE}`, key);

let made = 0;

interface Sent {
  key?: string;
  customerId?: string;
  properties?: Record<string, string>;
}

/** Resolves with the ids of events that are acknowledged, and the request that they came in. */
async function send(count: number, { key = keys.live.secret, ...given }: Sent = {}) {
  const customerId = given.customerId ?? judged.world.customers[0]?.id;
  const events = Array.from({ length: count }, () => {
    made += 1;
    return { customerId, meterId: 'api_calls', value: 1, idempotencyKey: `live-${made}`, ...given };
  });
  const body = JSON.stringify({ events });
  return { ids: await post(body, key), body };
}

async function post(body: string, key = keys.live.secret): Promise<string[]> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const url = `${ORIGIN}/api/v1/usage/events/batch?include=events`;
  const response = await fetch(url, { method: 'POST', headers, body });
  expect(response.status).toBe(200);
  const { results } = (await response.json()) as { results: Array<{ event: { id: string } }> };
  return results.map(({ event }) => event.id);
}

const hasAll = (stream: WatchedUsage, ids: string[]) =>
  vi.waitFor(() => expect(stream.ids().sort()).toEqual([...ids].sort()), WAIT);

describe('the live stream over Kafka', () => {
  it('has each event of every partition once, and no repeat', async () => {
    const stream = await watch();
    const { ids, body } = await send(40);
    await hasAll(stream, ids);
    expect(await post(body)).toEqual(ids);
    const later = await send(20);
    await hasAll(stream, [...ids, ...later.ids]);
  });

  it('has those of its own environment only', async () => {
    const [live, test] = [await watch(), await watch(keys.test.secret)];
    const headers = { authorization: `Bearer ${keys.test.secret}`, 'content-type': 'application/json' };
    const customer = JSON.stringify({ name: 'T', email: 't@example.com', externalId: 'tester' });
    const created = await fetch(`${ORIGIN}/api/v1/customers`, { method: 'POST', headers, body: customer });
    expect(created.status).toBe(201);
    const theirs = await send(15, { key: keys.test.secret, customerId: 'tester' });
    const own = await send(15);
    await hasAll(live, own.ids);
    await hasAll(test, theirs.ids);
  });

  it('says how many events it left out beyond 100 in a second', async () => {
    const stream = await watch();
    for (let round = 0; round < 3; round += 1) await send(500);
    await vi.waitFor(() => {
      const leftOut = stream.leftOut().reduce((all, one) => all + one, 0);
      expect(stream.ids().length + leftOut).toBe(1_500);
      expect(leftOut).toBeGreaterThan(0);
    }, WAIT);
    expect(stream.messages.every(({ event, data }) => event !== 'sampled' || data.isComplete)).toBe(true);
  });

  it('cuts off a client that reads nothing, and goes on for one that reads', async () => {
    const streams = [];
    for (let opened = 0; opened < STREAMS_MAX - 1; opened += 1) streams.push(await watch());
    const [reading] = streams;
    const unread = await openConnection(roles.ingest[0]?.address.port ?? 0);
    unread.send(requestHead(`GET ${LIVE} HTTP/1.1`, [`Authorization: Bearer ${keys.live.secret}`]));
    await unread.receives('from now on');
    unread.socket.pause();
    const rejected = await fetch(`${ORIGIN}${LIVE}`, {
      headers: { authorization: `Bearer ${keys.live.secret}` },
    });
    expect(rejected.status).toBe(429);
    const large = Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`p${at}`, 'x'.repeat(250)]));
    await vi.waitFor(
      async () => {
        await send(100, { properties: large });
        await (await watch()).close();
      },
      { timeout: 120_000, interval: 500 },
    );
    expect(streams.map(({ isOver }) => isOver())).toEqual(streams.map(() => false));
    // One may be left out.
    const seen = reading?.ids().length ?? 0;
    await vi.waitFor(async () => {
      await send(1);
      expect(reading?.ids().length).toBeGreaterThan(seen);
    }, WAIT);
  });
});
