import { createServer } from 'node:http';
import express from 'express';
import { expect, it, onTestFinished } from 'vitest';
import { listenUntil } from '../../../../tests/support/listen.ts';
import type { UsageEvent } from '../meter/usage-event.ts';
import { meterExpress } from './express.ts';
import { meterFastify } from './fastify.ts';

function collected() {
  const events: UsageEvent[] = [];
  return { events, meter: { track: (event: UsageEvent) => events.push(event) > 0 } };
}

it('a route of Express counts what was sent, and not what failed', async () => {
  const { events, meter } = collected();
  const app = express();
  app.use(
    meterExpress<express.Request, express.Response>({
      meter,
      event: (request) => {
        const customerId = request.get('x-customer');
        if (customerId === 'none') return undefined;
        if (customerId === undefined) throw new Error('of the application');
        return { customerId, meterId: 'calls', value: 1 };
      },
    }),
  );
  app.get('/ok', (_, response) => void response.send('ok'));
  app.get('/bad', (_, response) => void response.status(400).send('bad'));
  const { url } = await listenUntil(onTestFinished, createServer(app));
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${url}${path}`, { headers });
  for (const customer of ['acme', 'none']) {
    expect((await get('/ok', { 'x-customer': customer })).status).toBe(200);
    expect((await get('/bad', { 'x-customer': customer })).status).toBe(400);
  }
  expect((await get('/ok')).status).toBe(200);
  expect(events).toEqual([{ customerId: 'acme', meterId: 'calls', value: 1 }]);
});

// Fastify is no package of this project: the hook is called as it calls one.
it('a hook of Fastify does the same', () => {
  const { events, meter } = collected();
  const hook = meterFastify<{ user: string }, { statusCode: number }>({
    meter,
    event: ({ user }) => ({ customerId: user, meterId: 'calls', value: 1 }),
    counts: (status) => status === 201,
  });
  let done = 0;
  for (const statusCode of [200, 201]) hook({ user: 'acme' }, { statusCode }, () => done++);
  expect([done, events.length]).toEqual([2, 1]);
});
