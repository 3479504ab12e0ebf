import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createNodeFront } from '../../infra/http/node-front.ts';
import { createOperatorAccess } from '../../infra/platform/operator-access.ts';
import { createRejectionLog } from '../../infra/platform/rejection-log.ts';
import { keptLog, startFront } from '../../infra/ports/conformance/front-under-test.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import { Readiness } from '../../schemas/resources/service.ts';
import { deferred } from '../../tests/support/deferred.ts';
import { until } from '../../tests/support/raw-connection.ts';
import { startUpstream } from '../forward/forwarder-under-test.ts';
import { createOperations, type Operations, type OperationsDeps } from './operations.ts';

/*
 * /readyz of the public port. Red when a response has a field that its schema does not name, or lacks one
 * that it requires.
 */
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const CONTROL = { status: 'ready', checks: { postgres: { ok: true, detail: 'ok' } } };

/** Of a data plane that takes events and has no control plane, unless a test says otherwise. */
function operationsOf(deps: Partial<OperationsDeps>): Operations {
  return createOperations({
    metrics: new Registry(),
    controlUrl: () => undefined,
    blockers: () => ({}),
    ...deps,
  });
}

/** On the public port; resolves with its URL. */
async function serve(deps: Partial<OperationsDeps>): Promise<string> {
  const operations = operationsOf(deps);
  return (await startFront(createNodeFront, (exchange) => void operations(exchange))).url;
}

it.each([
  ['both planes are ready', CONTROL, {}, 200, { ...CONTROL, version, dataPlane: 'ok' }],
  [
    'the data plane takes no events',
    CONTROL,
    { keys: 'are read' },
    503,
    { ...CONTROL, version, status: 'not_ready', dataPlane: { keys: 'are read' } },
  ],
  [
    'the control plane is unavailable',
    undefined,
    {},
    503,
    {
      status: 'not_ready',
      version,
      checks: { control: { ok: false, detail: 'is unavailable' } },
      dataPlane: 'ok',
    },
  ],
])('reports that %s, in the fields of its schema', async (...row) => {
  const [, control, blockers, status, body] = row;
  const upstream = control && (await startUpstream((_req, res) => res.end(JSON.stringify(control))));
  const url = await serve({ controlUrl: () => upstream, blockers: () => blockers });
  const response = await fetch(`${url}/readyz`);
  const responded = (await response.json()) as object;
  expect({ status: response.status, body: responded }).toEqual({ status, body });
  expect(Object.keys(Readiness.properties)).toEqual(expect.arrayContaining(Object.keys(responded)));
  expect(Object.keys(responded)).toEqual(expect.arrayContaining(Readiness.required));
});

/** Red when the control plane's part, or the name of what is in the way, is shown to every client. */
it('shows a bare status, and no metrics, to callers without access', async () => {
  const shown: Array<string | undefined> = [];
  const upstream = await startUpstream((req, res) => {
    shown.push(req.headers.authorization);
    res.end(JSON.stringify(CONTROL));
  });
  const url = await serve({
    controlUrl: () => upstream,
    blockers: () => ({ disk: 'is nearly full' }),
    access: createOperatorAccess({ metricsToken: 'a-token-of-an-operator' }),
    controlToken: () => 'own',
  });
  const bare = await fetch(`${url}/readyz`);
  expect([bare.status, await bare.json()]).toEqual([503, { status: 'not_ready' }]);
  const rejected = await fetch(`${url}/metrics`);
  expect([rejected.status, await rejected.json()]).toMatchObject([
    401,
    { error: { code: 'unauthenticated' } },
  ]);
  expect((await fetch(`${url}/metrics`, { method: 'HEAD' })).status).toBe(401);
  const headers = { authorization: 'Bearer a-token-of-an-operator' };
  const whole = await fetch(`${url}/readyz`, { headers });
  expect(await whole.json()).toMatchObject({
    ...CONTROL,
    version,
    status: 'not_ready',
    dataPlane: { disk: expect.any(String) },
  });
  expect((await fetch(`${url}/metrics`, { headers })).status).toBe(200);
  expect(new Set(shown)).toEqual(new Set(['Bearer own']));
});

/**
 * Red when each request queries the stores again: any client could take the stores' capacity from all others.
 */
it('requests both planes once for all concurrent callers, on either port', async () => {
  const held = deferred<void>();
  const requested: string[] = [];
  const upstream = await startUpstream(async (req, res) => {
    requested.push(String(req.url));
    await held.promise;
    res.end(req.url === '/readyz' ? JSON.stringify(CONTROL) : 'their_metric 1\n');
  });
  let blockersRequested = 0;
  const operations = operationsOf({
    controlUrl: () => upstream,
    blockers: () => {
      blockersRequested += 1;
      return {};
    },
  });
  const handlers = [(exchange: Exchange) => void operations(exchange), operations.onOwnPort];
  const fronts = await Promise.all(handlers.map((handler) => startFront(createNodeFront, handler)));
  const urls = fronts.map(({ url }) => url);
  const responses = Array.from({ length: 60 }, (_, at) =>
    fetch(`${urls[at % 2]}${at % 3 === 0 ? '/metrics' : '/readyz'}`, { method: at % 5 ? 'GET' : 'HEAD' }),
  );
  await until('both pages are requested', () => requested.length >= 2);
  held.resolve();
  expect(new Set((await Promise.all(responses)).map(({ status }) => status))).toEqual(new Set([200]));
  expect(await (await fetch(`${urls[0]}/metrics`)).text()).toContain('their_metric 1');
  expect([requested.sort(), blockersRequested]).toEqual([['/metrics', '/readyz'], 1]);
});

/** Red when a trailing slash is ignored: a proxy that keeps the exact path to itself exposes the page. */
it('takes no path but the exact one for a page', async () => {
  const operations = operationsOf({});
  const { url } = await startFront(createNodeFront, (exchange) => {
    if (!operations(exchange)) exchange.respond(404, {}, Buffer.from('another'));
  });
  for (const near of ['/metrics/', '/readyz/', '/healthz/', '/metric%73', '/METRICS'])
    expect(await (await fetch(url + near)).text()).toBe('another');
});

it('logs what it rejects', async () => {
  const { log, lines } = keptLog();
  const access = createOperatorAccess({ metricsToken: 'a-token-of-an-operator' });
  const url = await serve({ access, rejections: createRejectionLog(log) });
  const headers = { 'x-request-id': 'mine' };
  await fetch(`${url}/readyz?x=1`, { headers });
  await fetch(`${url}/metrics`, { headers });
  expect(lines).toMatchObject([
    { requestId: 'mine', status: 400, code: 'invalid_request', path: '/readyz' },
    { requestId: 'mine', status: 401, code: 'unauthenticated', path: '/metrics' },
  ]);
});

it('a port of its own has them and nothing else, and names the methods they take', async () => {
  const { log, lines } = keptLog();
  const operations = operationsOf({ isAlone: true, rejections: createRejectionLog(log) });
  const { url } = await startFront(createNodeFront, operations.onOwnPort);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  for (const path of ['/metrics/', '/api/v1/plans']) expect((await fetch(url + path)).status).toBe(404);
  const posted = await fetch(`${url}/metrics`, { method: 'POST' });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect(lines.map(({ status, path }) => [status, path])).toEqual([
    [404, '/metrics/'],
    [404, '/api/v1/plans'],
    [405, '/metrics'],
  ]);
});
