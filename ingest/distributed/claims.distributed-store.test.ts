import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { openKeysUnderTest } from '../../infra/valkey/keys-under-test.ts';
import { Transient } from '../../schemas/failures.ts';
import { readTimes } from '../../schemas/stored/record.ts';
import { deferred } from '../../tests/support/deferred.ts';
import { testWarehouse } from '../../tests/support/log-and-warehouse.ts';
import { startStopwatch } from '../../tests/support/stopwatch.ts';
import { createLogUnderTest, openDataPlane } from './distributed-usage-under-test.ts';

/** Long enough for a test to come between claim and take-over. */
const LEASE_MS = 4_000;

async function twoDataPlanes(leaseMs = LEASE_MS) {
  const installation = await openKeysUnderTest();
  const log = createLogUnderTest();
  const [one, two] = [await installation.open({ leaseMs }), await installation.open({ leaseMs })];
  return { log, one: await openDataPlane(one, log), two: await openDataPlane(two, log), installation };
}

const unavailable = expect.objectContaining({ name: 'Transient' });

test('one key is one event in every process, and the second response shows the first event', async () => {
  const { log, one, two } = await twoDataPlanes();
  const first = await one('a', 1, '2026-11-20T10:00:00Z');
  const again = await two('a', 1, '2026-11-21T10:00:00Z');
  expect(again).toEqual({ ...first, replayed: true });
  expect((await two('a', 2)).json.error.code).toBe('idempotency_key_reused');
  expect(log.frames.map(({ eventCount }) => eventCount)).toEqual([1]);
});

// Red when a claim is confirmed before the event is durable, or a response is sent while it is pending.
test('of two that race one writes, and the other gets no response before that is durable', async () => {
  const { log, one, two } = await twoDataPlanes();
  let isDurable = false;
  log.next = async () => {
    await delay(300);
    isDurable = true;
    return 'durable';
  };
  const racing = [one('a', 1), delay(50).then(() => two('a', 1))];
  for (const responded of racing) {
    expect((await responded).status).toBe(201);
    expect(isDurable).toBe(true);
  }
  expect(log.frames).toHaveLength(1);
});

// Red when a claim is kept although nothing was sent.
test('what was certainly not written leaves its key free, for another event too', async () => {
  const { log, one, two } = await twoDataPlanes();
  log.next = async () => 'not_sent';
  await expect(one('a', 1)).rejects.toEqual(unavailable);
  log.next = async () => 'durable';
  expect((await two('a', 2)).status).toBe(201);
  expect(log.frames[0]?.recheck).toEqual([]);
});

// Red when the times of an event that was then not written are taken for those of the first.
test('a process that waits for another and then writes itself stores and shows its own times', async () => {
  const { log, one, two } = await twoDataPlanes();
  log.next = async () => {
    log.next = async () => 'durable';
    await delay(300);
    return 'not_sent';
  };
  const failing = expect(one('a', 1, '2026-11-20T10:00:00Z')).rejects.toEqual(unavailable);
  await delay(50);
  const { occurredAt, createdAt } = (await two('a', 1, '2026-11-21T10:00:00Z')).json;
  await failing;
  const [frame] = log.frames;
  expect(occurredAt).toBe('2026-11-21T10:00:00.000Z');
  expect(frame && readTimes(frame.records, 0)).toEqual({
    occurredAtMs: Date.parse(occurredAt),
    createdAtMs: Date.parse(createdAt),
  });
});

// Red when a claim is released on an unknown outcome: another body could then be stored under the same key.
test('what may be written keeps its key: not for another event, nor before the lease is over', async () => {
  const { log, one, two } = await twoDataPlanes();
  log.next = async () => 'unknown-written';
  await expect(one('a', 1)).rejects.toEqual(unavailable);
  log.next = async () => 'durable';
  await expect(two('a', 2)).rejects.toEqual(unavailable);
  await delay(LEASE_MS);
  expect((await two('a', 2)).json.error.code).toBe('idempotency_key_reused');
  expect(log.frames).toHaveLength(1);
});

// Red when a take-over carries new times, and when it is not flagged.
test('after the lease the same event is taken over: with the first times, and flagged', async () => {
  const { log, one, two } = await twoDataPlanes();
  log.next = async () => 'unknown-written';
  await expect(one('a', 1, '2026-11-20T10:00:00Z')).rejects.toEqual(unavailable);
  log.next = async () => 'durable';
  await delay(LEASE_MS);
  const { json } = await two('a', 1, '2026-11-21T10:00:00Z');
  expect(json.occurredAt).toBe('2026-11-20T10:00:00.000Z');
  const [first, second] = log.frames;
  expect(second?.lines.toString()).toBe(first?.lines.toString());
  expect(second?.records).toEqual(first?.records);
  expect([first?.recheck, second?.recheck]).toEqual([[], [0]]);
});

// Red when a claim that may be written counts only while its event would be accepted: it is stored, and
// rejected.
test('what may be written is taken over though its customer was archived, and nothing new is', async () => {
  const { log, one, installation } = await twoDataPlanes();
  log.next = async () => 'unknown-written';
  await expect(one('a', 1)).rejects.toEqual(unavailable);
  log.next = async () => 'durable';
  const keys = await installation.open({ leaseMs: LEASE_MS });
  const later = await openDataPlane(keys, log, undefined, { archived: true });
  await expect(later('a', 1)).rejects.toEqual(unavailable);
  await delay(LEASE_MS);
  expect((await later('a', 2)).json.error.code).toBe('idempotency_key_reused');
  const { json, ...responded } = await later('a', 1);
  expect(responded).toEqual({ status: 201, replayed: false });
  const [first, second] = log.frames;
  expect(second?.lines.toString()).toBe(first?.lines.toString());
  expect([first?.recheck, second?.recheck]).toEqual([[], [0]]);
  expect((await later('b', 1)).json.error.code).toBe('customer_archived');
  expect(await later('a', 1)).toEqual({ json, status: 201, replayed: true });
});

// Red when a claim is confirmed by its key alone.
test('an owner that was too slow finds that another has its key, and its response is true', async () => {
  const { log, one, two } = await twoDataPlanes(200);
  const held = deferred<void>();
  log.next = async () => {
    log.next = async () => 'durable';
    await held.promise;
    return 'durable';
  };
  const slow = one('a', 1);
  await delay(400);
  const fast = await two('a', 1);
  expect(fast.status).toBe(201);
  held.resolve();
  expect(await slow).toEqual({ ...fast, replayed: true });
  expect(log.frames.map(({ recheck }) => recheck)).toEqual([[0], []]);
});

// Red when an event that a store which may have lost keys calls new is not searched for in ClickHouse.
test('what is claimed from a store that may have lost keys is flagged, all of it', async () => {
  const installation = await openKeysUnderTest();
  const log = createLogUnderTest();
  const doubtful = { ...(await installation.open()), mayHaveLostKeys: () => true };
  const send = await openDataPlane(doubtful, log);
  expect((await send('a', 1)).status).toBe(201);
  expect(log.frames.map(({ recheck }) => recheck)).toEqual([[0]]);
});

// Red when a request waits for a log that does not respond.
test('a log that hangs is an error within a second, and what it wrote is no second event', async () => {
  const { log, one, two } = await twoDataPlanes();
  const held = deferred<'durable'>();
  log.next = () => held.promise;
  const passedMs = startStopwatch();
  await expect(one('a', 1)).rejects.toEqual(unavailable);
  expect(passedMs()).toBeLessThan(1_500);
  held.resolve('durable');
  await vi.waitFor(() => expect(log.frames).toHaveLength(1), 20_000);
  expect((await two('a', 1)).status).toBe(201);
  expect(log.frames).toHaveLength(1);
});

const OLD = '2026-01-05T10:00:00.000Z';

/** A data plane whose keys of old events are forgotten, and what is left of them in ClickHouse. */
async function afterTheWindow() {
  const log = createLogUnderTest();
  const warehouse = await testWarehouse();
  const before = await openDataPlane(await (await openKeysUnderTest()).open(), log, warehouse);
  const first = await before('a', 1, OLD);
  expect(first.status).toBe(201);
  for (const frame of log.frames) {
    await warehouse.insertEvents({ token: 'one', lines: { frames: [frame] }, timeoutMs: 10_000 });
  }
  const keys = await (await openKeysUnderTest()).open();
  return { log, keys, warehouse, first };
}

// Red when keys that the store forgot are not searched for in ClickHouse.
test('a replay of an event that is older than the keys shows the first one, and is not written', async () => {
  const { log, keys, warehouse, first } = await afterTheWindow();
  const send = await openDataPlane(keys, log, warehouse);
  const again = { ...first, replayed: true };
  expect(await send('a', 1, OLD)).toEqual(again);
  expect(await send('a', 1, OLD.replace('10:00', '10:30'))).toEqual(again);
  expect((await send('a', 2, OLD)).json.error.code).toBe('idempotency_key_reused');
  expect((await send('b', 2, OLD)).status).toBe(201);
  expect(log.frames.map(({ eventCount }) => eventCount)).toEqual([1, 1]);
});

test('while ClickHouse is unavailable old events are rejected, and new ones are accepted', async () => {
  const { log, keys } = await afterTheWindow();
  const unavailable = () => Promise.reject(new Transient('warehouse_unavailable', 'The test.'));
  const send = await openDataPlane(keys, log, { query: unavailable });
  expect(await send('a', 1, OLD)).toMatchObject({ status: 503, json: { error: { code: 'unavailable' } } });
  expect((await send('b', 1)).status).toBe(201);
});
