import { createServer } from 'node:http';
import Koa from 'koa';
import { Registry } from 'prom-client';
import { afterAll, expect, it } from 'vitest';
import { ROUTES } from '../../schemas/routes.ts';
import { listenUntil } from '../../tests/support/listen.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { createHttpMetrics } from '../metrics.ts';
import { mountRoutes, type Serve } from './mount-routes.ts';
import { respondAlways } from './respond.ts';

/** Returns the operation, with its parameters and the path that later checks see. */
const respondWith =
  (operationId: string): Serve =>
  async (ctx, params) => {
    ctx.body = { operationId, params, path: ctx.path, query: ctx.querystring };
  };

const app = new Koa();
app.use(respondAlways(SILENT, createHttpMetrics(new Registry())));
const ids = ['plans.list', 'plans.retrieve', 'createPlan', 'service.metrics', 'service.docs'] as const;
const mounted = ids.map((operationId) => ({
  operationId,
  route: ROUTES[operationId],
  serve: respondWith(operationId),
}));
for (const middleware of mountRoutes(mounted)) app.use(middleware);
const { url } = await listenUntil(afterAll, createServer(app.callback()));

// Red when the router alone decides: 404 for what many clients send.
it.each([
  ['GET', '/api/v1/plans/', 'plans.list', {}],
  ['GET', '/api/v1/plans/?page=2', 'plans.list', {}],
  ['POST', '/api/v1/plans/', 'createPlan', {}],
  ['GET', '/api/v1/plans/plan_1/', 'plans.retrieve', { planId: 'plan_1' }],
  ['GET', '/api/v1/plans/a%20b/', 'plans.retrieve', { planId: 'a b' }],
])('%s %s is taken without its trailing slash', async (method, path, operationId, params) => {
  const response = await fetch(url + path, { method });
  const [plain = '', query = ''] = path.split('?');
  expect([response.status, await response.json()]).toEqual([
    200,
    { operationId, params, path: plain.slice(0, -1), query },
  ]);
});

it.each(['/', '//', '/api/v1/plans//', '/api/v1/nothing/'])('%s is nothing', async (path) => {
  expect((await fetch(url + path)).status).toBe(404);
});

it('another version is reported with a trailing slash too', async () => {
  const response = await fetch(`${url}/api/v2/plans/`);
  expect(await response.text()).toContain('unsupported_api_version');
});

// Red when a trailing slash is ignored: a proxy that restricts the exact path would let the other one
// through.
it('a page of an operator is at its exact path alone', async () => {
  const statusOf = async (path: string) => (await fetch(url + path)).status;
  expect(await statusOf('/metrics')).toBe(200);
  for (const near of ['/metrics/', '/metrics//', '/metric%73', '/Metrics', '/readyz/', '/healthz/'])
    expect(await statusOf(near), near).toBe(404);
  expect(await statusOf('/docs/')).toBe(200);
});
