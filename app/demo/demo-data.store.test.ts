import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readFact } from '../../domain/store/installation.ts';
import { Defect } from '../../schemas/failures.ts';
import { listen } from '../../tests/support/listen.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { testPool } from '../../tests/support/test-pool.ts';
import { DATA_DONE, fillDemoWorkspace } from './demo-data.ts';
import { DATA_DUE, ensureDemoWorkspace } from './demo-workspace.ts';

/** A first start, and a server in place of the API that rejects whatever is requested. */
async function firstStart({ withData = true } = {}) {
  const pool = await testPool();
  const file = join(testFolder(), 'demo-keys.json');
  const keys = await ensureDemoWorkspace({ pool, pepper: Buffer.alloc(32, 3), file, withData });
  const sent: unknown[] = [];
  const server = createServer(({ method, url, headers }, response) => {
    sent.push([method, url, headers.authorization, headers['idempotency-key']]);
    response.writeHead(400).end('rejected');
  });
  const { url, close } = await listen(server);
  onTestFinished(close);
  const access = { url: () => url, signal: new AbortController().signal };
  const fill = () => fillDemoWorkspace({ pool, log: SILENT, file, webhookTargets: 'loopback' }, access);
  return { pool, file, keys, sent, fill };
}

test("it requests with the workspace's test key, and a failure leaves it to the next start", async () => {
  const { pool, keys, sent, fill } = await firstStart();
  const first = ['POST', '/api/v1/meters', `Bearer ${keys?.test.secret}`, 'demo/meter/api-calls'];
  await expect(fill()).rejects.toThrow(Defect);
  expect(await readFact(pool, DATA_DONE)).toBeUndefined();
  await expect(fill()).rejects.toThrow('meters.create: 400 rejected');
  expect(sent).toEqual([first, first]);
});

/** Red when the data are made at each start, in a workspace of an earlier release, or without its keys. */
test('nothing is requested once it is done, where it is not due, or the keys were removed', async () => {
  const done = await firstStart();
  await done.pool.query('INSERT INTO installation (name, value) VALUES ($1, $2)', [DATA_DONE, '']);
  const notDue = await firstStart({ withData: false });
  const removed = await firstStart();
  rmSync(removed.file);
  for (const { fill, sent } of [done, notDue, removed]) {
    await fill();
    expect(sent).toEqual([]);
  }
});

/** Red when it is continued: the responses of the first requests are gone, and each would create again. */
test('what was interrupted for almost a day is left as it is, for good', async () => {
  const { pool, sent, fill } = await firstStart();
  const yesterday = new Date(Date.now() - 21 * 3_600_000).toISOString();
  await pool.query('UPDATE installation SET value = $2 WHERE name = $1', [DATA_DUE, Buffer.from(yesterday)]);
  await fill();
  expect(sent).toEqual([]);
  expect(await readFact(pool, DATA_DONE)).toBeDefined();
});
