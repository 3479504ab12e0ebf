import type { Logger } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createCloser } from '../../infra/platform/closer.ts';
import type { Check } from '../../infra/platform/health-checks.ts';
import { createMetrics } from '../../infra/platform/metrics.ts';
import { createOperatorAccess, OPEN_ACCESS } from '../../infra/platform/operator-access.ts';
import { keptLog } from '../../infra/ports/conformance/front-under-test.ts';
import { ERROR_STATUS, type ErrorCode } from '../../schemas/error-codes.ts';
import { deferred } from '../../tests/support/deferred.ts';
import { quietPort } from '../../tests/support/quiet-port.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { createControlServer } from './control-server.ts';
import { rolePages } from './health-server.ts';
import { openOperatorPort } from './operator-port.ts';

async function openHealthServer(
  checks: Record<string, Check>,
  access = OPEN_ACCESS,
  log: Logger = SILENT,
): Promise<string> {
  const server = await createControlServer({
    meanwhile: rolePages({ metrics: createMetrics('delivery'), checks, access, log }),
  });
  onTestFinished(() => {
    server.close();
    void server.drain();
  });
  return server.url;
}

it('a role is alive before it is ready, and names what it lacks', async () => {
  const checks: Record<string, Check> = { load: async () => 'waits for its stores' };
  const url = await openHealthServer(checks);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const waiting = await fetch(`${url}/readyz`);
  expect(waiting.status).toBe(503);
  expect(await waiting.json()).toEqual({
    status: 'not_ready',
    version: expect.any(String),
    checks: { load: { ok: false, detail: 'waits for its stores' } },
  });
  // What was found is kept for a second.
  checks.load = async () => undefined;
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, WAIT).toBe(200);
  checks.postgres = () => Promise.reject(new TypeError('a secret'));
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, WAIT).toBe(503);
  expect(await (await fetch(`${url}/readyz`)).text()).not.toContain('secret');
});

/** Red when each request checks the stores again: a client could exhaust them. */
it('checks its stores once for all concurrent requests, whatever they may see', async () => {
  const requested = deferred<undefined>();
  let times = 0;
  const checks: Record<string, Check> = {
    load: () => {
      times += 1;
      return requested.promise;
    },
  };
  const url = await openHealthServer(
    checks,
    createOperatorAccess({ metricsToken: 'a-token-of-an-operator' }),
  );
  const headers = { authorization: 'Bearer a-token-of-an-operator' };
  const first = [fetch(`${url}/readyz`), fetch(`${url}/readyz`, { headers })];
  const others = Array.from({ length: 48 }, () => fetch(`${url}/readyz`));
  requested.resolve(undefined);
  const statuses = (await Promise.all([...first, ...others])).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(times).toBe(1);
});

/** Red when a slash behind it is passed over: a proxy that blocks the exact path then exposes it. */
it('serves its pages at their exact paths, to reading methods, without parameters', async () => {
  const url = await openHealthServer({});
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    expect((await fetch(url + path, { method: 'HEAD' })).status).toBe(200);
    for (const near of [`${path}/`, `${path}//`, path.toUpperCase(), `/x/..%2f${path}`])
      await expectRejection(await fetch(url + near), 'not_found');
    const posted = await fetch(url + path, { method: 'POST' });
    expect(posted.headers.get('allow')).toBe('GET, HEAD');
    await expectRejection(posted, 'method_not_allowed');
    await expectRejection(await fetch(`${url}${path}?x=1`), 'invalid_request');
  }
});

it('its errors are found in the log by their id', async () => {
  const { log, lines } = keptLog();
  const url = await openHealthServer(
    {},
    createOperatorAccess({ metricsToken: 'a-token-of-an-operator' }),
    log,
  );
  const headers = { 'x-request-id': 'mine' };
  expect((await fetch(`${url}/metrics`, { headers })).headers.get('x-request-id')).toBe('mine');
  await fetch(`${url}/none`, { headers });
  await fetch(`${url}/readyz`, { headers, method: 'POST' });
  const notified = lines
    .filter(({ requestId }) => requestId === 'mine')
    .map(({ status, path }) => [status, path]);
  expect(notified).toEqual([
    [401, '/metrics'],
    [404, '/none'],
    [405, '/readyz'],
  ]);
});

const WAIT = { timeout: 30_000, interval: 100 };

async function expectRejection(response: Response, code: ErrorCode): Promise<void> {
  expect(response.status).toBe(ERROR_STATUS[code]);
  const requestId = response.headers.get('x-request-id');
  expect(requestId).toMatch(/^req_/);
  expect(await response.json()).toMatchObject({ error: { code, requestId } });
}

it('it shows its metrics under its role, and none of an API', async () => {
  const url = await openHealthServer({});
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
  const url = new URL(await openHealthServer({}));
  const taken = createControlServer({ host: url.hostname, port: Number(url.port) });
  await expect(taken).rejects.toMatchObject({ code: 'listen_failed' });
});

/** Red when the pages stay on the first port, or when the second one serves more than they. */
it('a role moves its pages to a port of their own, and leaves a bare status behind', async () => {
  const metricsPort = await quietPort();
  const access = createOperatorAccess({ metricsPort });
  const checks: Record<string, Check> = { load: async () => 'waits for its stores' };
  const url = await openHealthServer(checks, access);
  const bare = await fetch(`${url}/readyz`);
  expect([bare.status, await bare.json()]).toEqual([503, { status: 'not_ready' }]);
  expect((await fetch(`${url}/metrics`)).status).toBe(404);

  const closer = createCloser(SILENT);
  onTestFinished(() => closer.close());
  const pages = rolePages({ metrics: createMetrics('delivery'), checks, access, log: SILENT });
  const { log, lines } = keptLog();
  await openOperatorPort({ metricsPort, metricsHost: '127.0.0.1' }, { closer, log }, pages);
  const own = `http://127.0.0.1:${metricsPort}`;
  expect(await (await fetch(`${own}/readyz`)).json()).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    checks: { load: { ok: false } },
  });
  expect((await fetch(`${own}/metrics`)).status).toBe(200);
  await expectRejection(await fetch(`${own}/api/v1/plans`), 'not_found');
  await expectRejection(await fetch(`${own}/metrics/`), 'not_found');
  expect(lines).toMatchObject([{ path: '/api/v1/plans' }, { path: '/metrics/' }]);
});
