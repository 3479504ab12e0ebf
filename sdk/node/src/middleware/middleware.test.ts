import { createServer } from 'node:http';
import express from 'express';
import { expect, it, onTestFinished, vi } from 'vitest';
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
  await vi.waitFor(() => expect(events).toHaveLength(1), { timeout: 10_000 });
  expect(events).toEqual([{ customerId: 'acme', meterId: 'calls', value: 1 }]);
});

it('a response of Express that its client does not read to the end is counted, if it has begun', async () => {
  const { events, meter } = collected();
  const app = express();
  const event = (request: express.Request) => ({ customerId: request.path, meterId: 'calls', value: 1 });
  app.use(meterExpress<express.Request, express.Response>({ meter, event }));
  const ended = new Set<string>();
  const leaving = new AbortController();
  app.use((request, response) => {
    response.on('close', () => ended.add(request.path));
    if (request.path === '/stream') response.write('the first part');
    else leaving.abort();
  });
  const { url } = await listenUntil(onTestFinished, createServer(app));
  const streamed = await fetch(`${url}/stream`);
  await streamed.body?.cancel();
  await expect(fetch(`${url}/silent`, { signal: leaving.signal })).rejects.toThrow();
  await vi.waitFor(() => expect([...ended].sort()).toEqual(['/silent', '/stream']), { timeout: 10_000 });
  expect(events.map(({ customerId }) => customerId)).toEqual(['/stream']);
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

it('an event may be a promise; one that rejects is dropped', async () => {
  const { events, meter } = collected();
  const hook = meterFastify<{ user: string }, { statusCode: number }>({
    meter,
    event: async ({ user }) => {
      if (user === '') throw new Error('of the application');
      return { customerId: user, meterId: 'calls', value: 1 };
    },
  });
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  for (const user of ['', 'acme']) hook({ user }, { statusCode: 200 }, () => undefined);
  await vi.waitFor(() => expect(events).toEqual([{ customerId: 'acme', meterId: 'calls', value: 1 }]));
  await new Promise(setImmediate);
  expect(unhandled).toEqual([]);
});
