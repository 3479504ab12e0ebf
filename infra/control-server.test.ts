import { expect, onTestFinished, test } from 'vitest';
import { createControlServer } from './control-server.ts';

// Red when who watches over a process takes one that waits for its stores for dead.
test('a process that waits for its stores is alive and not ready', async () => {
  const server = await createControlServer();
  onTestFinished(() => server.close());
  const health = await fetch(`${server.url}/healthz`);
  expect([health.status, await health.json()]).toEqual([200, { status: 'alive' }]);
  for (const path of ['/readyz', '/api/v1/customers']) {
    const answer = await fetch(server.url + path);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
  }
});
