import { expect, it, onTestFinished } from 'vitest';
import { createCloser } from './closer.ts';
import { SILENT } from './conformance/front-under-test.ts';
import { createControlServer } from './control-server.ts';
import type { Check } from './judge-checks.ts';
import { createMetrics } from './metrics.ts';
import { createOperatorAccess, OPEN_ACCESS } from './operator-access.ts';
import { openOperatorPort } from './operator-port.ts';
import { quietPort } from './quiet-port.ts';
import { rolePages } from './role-door.ts';

async function openDoor(checks: Record<string, Check>, access = OPEN_ACCESS): Promise<string> {
  const door = await createControlServer({
    meanwhile: rolePages({ metrics: createMetrics('delivery'), checks, access }),
  });
  onTestFinished(() => {
    door.close();
    void door.drain();
  });
  return door.url;
}

it('a role is alive before it is ready, and names what it lacks', async () => {
  const checks: Record<string, Check> = { load: async () => 'waits for its stores' };
  const url = await openDoor(checks);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const waiting = await fetch(`${url}/readyz`);
  expect(waiting.status).toBe(503);
  expect(await waiting.json()).toEqual({
    status: 'not_ready',
    checks: { load: { ok: false, detail: 'waits for its stores' } },
  });
  checks.load = async () => undefined;
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  checks.postgres = () => Promise.reject(new TypeError('a secret'));
  expect(await (await fetch(`${url}/readyz`)).text()).not.toContain('secret');
});

it('it tells its metrics under its role, and of an API it has none', async () => {
  const url = await openDoor({});
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('role="delivery"');
  const other = await fetch(`${url}/api/v1/plans`);
  expect([other.status, other.headers.get('x-api-version')]).toEqual([404, 'v1']);
  for (const path of ['/healthz', '/readyz', '/metrics', '/none']) {
    const { headers } = await fetch(`${url}${path}`);
    expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([
      'no-store',
      'nosniff',
    ]);
  }
});

it('an address that is taken is a fault of the configuration', async () => {
  const url = new URL(await openDoor({}));
  const taken = createControlServer({ host: url.hostname, port: Number(url.port) });
  await expect(taken).rejects.toMatchObject({ code: 'listen_failed' });
});

/** Red when the pages stay on the first port, or when the second one serves more than they. */
it('a role moves its pages to a port of their own, and leaves a bare status behind', async () => {
  const metricsPort = await quietPort();
  const access = createOperatorAccess({ metricsPort });
  const checks: Record<string, Check> = { load: async () => 'waits for its stores' };
  const url = await openDoor(checks, access);
  const bare = await fetch(`${url}/readyz`);
  expect([bare.status, await bare.json()]).toEqual([503, { status: 'not_ready' }]);
  expect((await fetch(`${url}/metrics`)).status).toBe(404);

  const closer = createCloser(SILENT);
  onTestFinished(() => closer.close());
  const pages = rolePages({ metrics: createMetrics('delivery'), checks, access });
  await openOperatorPort({ metricsPort, metricsHost: '127.0.0.1' }, closer, pages);
  const own = `http://127.0.0.1:${metricsPort}`;
  expect(await (await fetch(`${own}/readyz`)).json()).toMatchObject({ checks: { load: { ok: false } } });
  expect((await fetch(`${own}/metrics`)).status).toBe(200);
  expect((await fetch(`${own}/api/v1/plans`)).status).toBe(404);
});
