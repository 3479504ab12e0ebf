import { expect, it, onTestFinished } from 'vitest';
import { Transient } from '../../schemas/failures.ts';
import { startFaultyWay } from '../../tests/servers/faulty-way.ts';
import { sharedRedis } from '../../tests/servers/shared-url.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { createValkeyClient } from './valkey-client.ts';

const PATIENCE = { timeout: 10_000, interval: 50 };

// Red when requests continue on a connection that times out.
it('a connection to the key store that falls silent is replaced', async () => {
  const url = new URL(await sharedRedis());
  const way = await startFaultyWay(() => Number(url.port));
  onTestFinished(() => way.close());
  let lost = 0;
  const client = createValkeyClient(
    { url: `redis://127.0.0.1:${way.port}`, hotWindowMs: 1_000 },
    { log: SILENT, onLost: () => void lost++ },
  );
  onTestFinished(() => client.close());
  const identity = await client.identity();
  way.silence();
  await expect(client.identity()).rejects.toBeInstanceOf(Transient);
  await expect.poll(() => client.identity().catch(() => undefined), PATIENCE).toBe(identity);
  expect(lost).toBe(1);
});
