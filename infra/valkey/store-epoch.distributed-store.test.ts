import { Redis } from 'iovalkey';
import { expect, onTestFinished, test, vi } from 'vitest';
import { databaseBehindWay } from '../../tests/servers/faulty-way.ts';
import { startRedis } from '../../tests/servers/start-redis.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { startStopwatch } from '../../tests/support/stopwatch.ts';
import { type DistributedIdempotencyStore, OUTCOME } from '../ports/idempotency-store.ts';
import { createPool } from '../postgres/pool.ts';
import { openKeysUnderTest, useKey } from './keys-under-test.ts';

const PATIENCE = { timeout: 30_000, interval: 100 };

async function ownServer(settings: Record<string, string> = {}) {
  const server = await startRedis({ settings });
  onTestFinished(() => server.stop());
  return server;
}

const usedSoon = (keys: DistributedIdempotencyStore, id: number) =>
  vi.waitFor(() => useKey(keys, id), PATIENCE);

// Red when a change of the run id is not seen, and when only the process that saw it knows.
test('a restarted store may have lost keys for a whole window, for every process', async () => {
  const server = await ownServer();
  const installation = await openKeysUnderTest(server);
  const keys = await installation.open();
  expect(await useKey(keys, 1)).toBe(OUTCOME.created);
  expect(keys.mayHaveLostKeys()).toBe(false);
  await server.restart({ wiped: true });
  expect(await usedSoon(keys, 1)).toBe(OUTCOME.created);
  expect(keys.mayHaveLostKeys()).toBe(true);
  expect((await installation.open()).mayHaveLostKeys()).toBe(true);
});

// Red when a claim does not check the store epoch.
test('a store emptied under a living connection may have lost keys from the next claim on', async () => {
  const server = await ownServer();
  const installation = await openKeysUnderTest(server);
  const keys = await installation.open();
  await useKey(keys, 1);
  const redis = new Redis(server.url);
  onTestFinished(() => redis.disconnect());
  await redis.flushall();
  expect(await useKey(keys, 1)).toBe(OUTCOME.created);
  expect(keys.mayHaveLostKeys()).toBe(true);
});

test('a server that evicts keys is rejected at once, and one with a wrong password', async () => {
  const forgetful = await ownServer({ 'maxmemory-policy': 'allkeys-lru' });
  const installation = await openKeysUnderTest(forgetful);
  await expect(installation.open()).rejects.toMatchObject({ code: 'bad_configuration' });
  const closed = await startRedis({ login: { username: '', password: 'right' } });
  onTestFinished(() => closed.stop());
  const url = closed.url.replace(/\/\/(.*@)?/, '//:wrong@');
  await expect((await openKeysUnderTest({ url })).open()).rejects.toMatchObject({
    code: 'bad_configuration',
  });
});

test('while it is paused nothing is claimed, and afterwards it is the same store', async () => {
  const server = await ownServer();
  const installation = await openKeysUnderTest(server);
  const keys = await installation.open();
  await useKey(keys, 1);
  await server.pause();
  const passedMs = startStopwatch();
  await expect(useKey(keys, 2)).rejects.toMatchObject({ code: 'keys_unavailable' });
  expect(passedMs()).toBeLessThan(3_000);
  await server.resume();
  expect(await usedSoon(keys, 1)).toBe(OUTCOME.duplicate);
  expect(keys.mayHaveLostKeys()).toBe(false);
});

/** To a database of the test's own; closed, it makes Postgres unavailable. */
async function ownWay() {
  const { url, way } = await databaseBehindWay(onTestFinished);
  const pool = createPool({ url, name: 'test', log: SILENT });
  onTestFinished(() => pool.end());
  return { pool, way };
}

// Red when an error of Postgres is passed on unchanged: the sender of an event gets a 500, not a 503.
test('a restarted store is unavailable for as long as Postgres, which has its epoch', async () => {
  const server = await ownServer();
  const installation = await openKeysUnderTest(server);
  const { pool, way } = await ownWay();
  const keys = await installation.open({ pool });
  await useKey(keys, 1);
  way.close();
  await server.restart({ wiped: true });
  const failure = () => useKey(keys, 1).catch(({ name, code }) => ({ name, code }));
  await expect.poll(failure, PATIENCE).toEqual({ name: 'Transient', code: 'database_unavailable' });
});
