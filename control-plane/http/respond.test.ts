import { createServer } from 'node:http';
import Koa from 'koa';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, it, onTestFinished } from 'vitest';
import { Rejected } from '../../schemas/failures.ts';
import { listenUntil } from '../../tests/support/listen.ts';
import { createHttpMetrics } from '../metrics.ts';
import { respondAlways } from './respond.ts';

/** Red when rejections are sent but not logged: the id in a report could not be found in the log. */
it('a rejected request is found in the log by its requestId, and a served one is not logged', async () => {
  const lines: Array<Record<string, unknown>> = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const app = new Koa();
  app.use(respondAlways(log, createHttpMetrics(new Registry())));
  app.use((ctx) => {
    if (ctx.path === '/served') ctx.body = '{}';
    else throw new Rejected('plan_not_found', 'There is no plan plan_1.', { param: 'planId' });
  });
  const { url } = await listenUntil(onTestFinished, createServer(app.callback()));
  await fetch(`${url}/served`);
  const headers = { 'x-sent-method': 'FOO' };
  const response = await fetch(`${url}/api/v1/plans/plan_1?key=pk_live_x`, { headers });
  const { error } = (await response.json()) as {
    error: { requestId: string };
  };
  expect(lines).toMatchObject([
    {
      level: 30,
      requestId: error.requestId,
      status: 404,
      code: 'plan_not_found',
      method: 'FOO',
      path: '/api/v1/plans/plan_1',
    },
  ]);
});
