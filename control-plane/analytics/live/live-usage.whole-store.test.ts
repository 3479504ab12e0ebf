import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CHANNELS } from '../../../schemas/stored/channels.ts';
import { eventId } from '../../../tests/support/load-frames.ts';
import type { Happening } from '../../../tests/support/usage-oracle.ts';
import { watchLiveUsage } from '../../../tests/support/watch-live-usage.ts';
import { expectRejection } from '../../api-under-test.ts';
import { usageOfThisFile } from '../../usage/usage-under-test.ts';

/*
 * The stream of counted events over HTTP, from a real log, Postgres and warehouse.
 *
 * Breaks that it catches: another environment's events; the filter that is ignored; what was counted before;
 * events beyond 100 in a second lost without a word; a stream that stays after its key was revoked; a place
 * that is not given back; reads of the log without a viewer.
 */
const usage = await usageOfThisFile();
const { api, happenings, customerId } = usage;
const PATH = '/api/v1/usage/live';
const WAIT = { timeout: 15_000, interval: 20 };

const watch = (query = '', key = api.keys.live.secret) =>
  watchLiveUsage(`${api.origin}${PATH}?${query}`, key);

let made = 0;

async function count(
  some: number,
  { meter = 'sum', environment = usage.environment, customer = customerId } = {},
) {
  const events = happenings.slice(0, some).map((one) => {
    made += 1;
    const logged = usage.logged(one, meter);
    return { ...logged, id: eventId(`live${made}`), environment, customerId: customer };
  });
  await usage.load(await usage.append(events));
  return events.map(({ id }) => id);
}

describe('the live stream', () => {
  it('has each event as it is counted, as the list of events shows it', async () => {
    await usage.makeMeter('live', 'sum');
    await count(3, { meter: 'live' });
    const stream = await watch();
    const ids = await count(40, { meter: 'live' });
    await vi.waitFor(() => expect(stream.ids()).toEqual(ids), WAIT);
    const listed = await usage.read('live/events');
    const byId = new Map(listed.body.data.map((one: { id: string }) => [one.id, one]));
    for (const { data } of stream.messages) expect(data).toEqual(byId.get(data.id));
  });

  it('is filtered by customer and meter, and has those of its own environment only', async () => {
    const streams = await Promise.all(
      ['', 'customerId=ada%2F1', 'meterId=max', 'customerId=ada%2F1&meterId=max'].map((query) =>
        watch(query),
      ),
    );
    const other = await api.addWorkspace();
    const foreign = await watch('', other.live.secret);
    const theirs = await count(4, { environment: `${other.workspaceId}:live` });
    const [own, max, another] = [
      await count(5),
      await count(6, { meter: 'max' }),
      await count(7, { customer: 'cus_other' }),
    ];
    const expected = [[...own, ...max, ...another], [...own, ...max], max, max];
    await vi.waitFor(() => expect(streams.map(({ ids }) => ids())).toEqual(expected), WAIT);
    await vi.waitFor(() => expect(foreign.ids()).toEqual(theirs), WAIT);
  });

  it('leaves out what the load has left out', async () => {
    const stream = await watch();
    const events = happenings
      .slice(0, 4)
      .map((one, at) => ({ ...usage.logged(one, 'sum'), id: eventId(`dropped${at}`) }));
    const { lo, hi } = await usage.append(events);
    const logId = Buffer.from(usage.stores.writer.logId).toString('hex');
    await api.pool.query(
      `INSERT INTO log_ranges VALUES ($1, 0, $2, $3, 1, 'loaded', 4, '{0,2}', 0, 1, now(), 4)`,
      [logId, lo, hi],
    );
    await api.pool.query('SELECT pg_notify($1, $2)', [
      CHANNELS.loaded,
      JSON.stringify({ logId, partition: 0, hi, throughMs: 1 }),
    ]);
    await vi.waitFor(() => expect(stream.ids()).toEqual([eventId('dropped1'), eventId('dropped3')]), WAIT);
  });

  it('leaves out what corrections have on the log', async () => {
    const stream = await watch();
    const kinds = [{}, { change: { number: 1, voids: true } }, { change: { number: 1, voids: false } }, {}];
    const events = happenings
      .slice(0, 4)
      .map((one, at) => ({ ...usage.logged(one, 'sum'), id: eventId(`corrected${at}`), ...kinds[at] }));
    const { lo, hi } = await usage.append(events);
    const logId = Buffer.from(usage.stores.writer.logId).toString('hex');
    await api.pool.query(
      `INSERT INTO log_ranges VALUES ($1, 0, $2, $3, 1, 'loaded', 4, '{}', 0, 1, now(), 4)`,
      [logId, lo, hi],
    );
    await api.pool.query('SELECT pg_notify($1, $2)', [
      CHANNELS.loaded,
      JSON.stringify({ logId, partition: 0, hi, throughMs: 1 }),
    ]);
    const shown = [eventId('corrected0'), eventId('corrected3')];
    await vi.waitFor(() => expect(stream.ids()).toEqual(shown), WAIT);
  });

  it('shows 100 events in a second, and says how many it left out', async () => {
    const stream = await watch();
    await count(1_000);
    await vi.waitFor(() => {
      const sum = stream.leftOut().reduce((all, one) => all + one, 0);
      expect(stream.ids().length + sum).toBe(1_000);
    }, WAIT);
    expect(stream.ids().length).toBeLessThanOrEqual(300);
    expect(stream.messages.every(({ event, data }) => event !== 'sampled' || data.isComplete)).toBe(true);
  });

  it('ends after its time, and with a key that is revoked', { timeout: 30_000 }, async () => {
    const brief = await watch('forSeconds=1');
    const key = await api.addKey({ scopes: ['usage:read'] });
    const stream = await watch('', key);
    const revoked = 'UPDATE api_keys SET revoked_at = now() WHERE id = $1';
    await api.pool.query(revoked, [key]);
    const payload = JSON.stringify({ kind: 'key', environment: usage.environment, id: key });
    await api.pool.query('SELECT pg_notify($1, $2)', [CHANNELS.changes, payload]);
    await vi.waitFor(() => expect(brief.isOver()).toBe(true), WAIT);
    await vi.waitFor(() => expect(stream.isOver()).toBe(true), { ...WAIT, timeout: 10_000 });
  });

  it('is one of ten of an environment, whose places are given back', async () => {
    const streams = await Promise.all(Array.from({ length: 10 }, () => watch()));
    expectRejection(await api.call('GET', PATH), 'rate_limited');
    const other = await api.addWorkspace();
    await watch('', other.live.secret);
    await streams[0]?.close();
    await vi.waitFor(async () => void (await (await watch()).close()), WAIT);
  });

  it('has nothing in a response to HEAD, which takes no place', async () => {
    const isThere = async () => expect((await api.call('HEAD', PATH)).status).toBe(200);
    await vi.waitFor(isThere, WAIT);
    for (let round = 0; round < 12; round += 1) await isThere();
  });

  it('rejects what does not exist', async () => {
    expectRejection(await api.call('GET', `${PATH}?customerId=nobody`), 'customer_not_found', 'customerId');
    expectRejection(await api.call('GET', `${PATH}?meterId=nothing`), 'meter_not_found', 'meterId');
    expectRejection(await api.call('GET', `${PATH}?forSeconds=0`), 'invalid_request', 'forSeconds');
    const key = await api.addKey({ scopes: ['usage:write'] });
    expectRejection(await api.call('GET', PATH, { key }), 'insufficient_scope');
  });

  it('reads the log only while a client watches', async () => {
    const read = vi.spyOn(usage.stores.reader, 'read');
    onTestFinished(() => read.mockRestore());
    await (await watch()).close();
    // Until the server has seen that it closed.
    await vi.waitFor(async () => {
      read.mockClear();
      await count(1);
      // A reader of the log would have been woken with the first of them.
      for (let round = 0; round < 3; round += 1) await usage.read('sum?consistency=strong');
      expect(read).not.toHaveBeenCalled();
    }, WAIT);
  });

  it('says so when it is too far behind to look at everything', async () => {
    const stream = await watch();
    const { lo, hi, events } = await usage.append([
      usage.logged({ ...(happenings[0] as Happening), id: 'far' }, 'sum'),
    ]);
    const logId = Buffer.from(usage.stores.writer.logId).toString('hex');
    await api.pool.query(
      `INSERT INTO log_ranges VALUES ($1, 0, $2, $3, 1, 'loaded', 200001, '{}', 0, 1, now(), 4)`,
      [logId, lo, hi],
    );
    const gaps = () => stream.messages.filter(({ event, data }) => event === 'sampled' && !data.isComplete);
    await vi.waitFor(() => expect(gaps()).toHaveLength(1), WAIT);
    expect(events).toHaveLength(1);
    const ids = await count(2);
    await vi.waitFor(() => expect(stream.ids()).toEqual(ids), WAIT);
  });
});
