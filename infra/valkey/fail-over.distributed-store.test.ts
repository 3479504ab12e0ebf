import { Redis } from 'iovalkey';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Transient } from '../../schemas/failures.ts';
import { startFaultyWay } from '../../tests/servers/faulty-way.ts';
import { startRedis } from '../../tests/servers/start-redis.ts';
import { OUTCOME } from '../ports/idempotency-store.ts';
import { openKeysUnderTest, useKey } from './keys-under-test.ts';

const PATIENCE = { timeout: 20_000, interval: 100 };
const CLOSED_PORT = 1;

async function startServer(settings: Record<string, string> = {}) {
  const server = await startRedis({ settings });
  onTestFinished(() => server.stop());
  const redis = new Redis(server.url);
  onTestFinished(() => redis.disconnect());
  return { port: Number(new URL(server.url).port), redis };
}

// Red when a connection is kept to a server that has become a replica, and when a replica is taken for a
// store of its own.
test('a primary that became a replica is left for the new one, whatever its response', async () => {
  // It is read-only, or does not respond at all without its primary.
  await failOver({ 'replica-serve-stale-data': 'yes' });
  await failOver({ 'replica-serve-stale-data': 'no' });
});

/**
 * A primary becomes a replica and keeps its connections; shortly afterwards its name leads to another server.
 */
async function failOver(settings: Record<string, string>): Promise<void> {
  const [before, after] = [await startServer(settings), await startServer()];
  let leader = before;
  let connections = 0;
  const way = await startFaultyWay(() => {
    connections++;
    return leader.port;
  });
  onTestFinished(() => way.close());
  const installation = await openKeysUnderTest({ url: `redis://127.0.0.1:${way.port}` });
  const keys = await installation.open();
  expect(await useKey(keys, 1)).toBe(OUTCOME.created);
  const storedEpoch = async () => {
    const found = await installation.pool.query('SELECT birth FROM key_stores WHERE name = $1', [
      installation.prefix,
    ]);
    return found.rows;
  };
  const [first] = await storedEpoch();

  await before.redis.replicaof('127.0.0.1', CLOSED_PORT);
  let id = 1;
  const rejected = () => useKey(keys, ++id).catch((error: Transient) => error.code);
  const rejectedAgain = async () => [await rejected(), connections > 3];
  await expect.poll(rejectedAgain, PATIENCE).toEqual(['keys_unavailable', true]);
  expect(await storedEpoch()).toEqual([first]);

  leader = after;
  expect(await vi.waitFor(() => useKey(keys, 1), PATIENCE)).toBe(OUTCOME.created);
  expect(keys.mayHaveLostKeys()).toBe(true);
}
