import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { errorBody, resultsOf, sendJson, startBatchServer } from './batch-server-under-test.ts';
import { batchOf } from './event-batch.ts';
import { ownUsageOf } from './meter.ts';
import { event, json, keyed, openMeter, text } from './meter-under-test.ts';
import type { Spool } from './spool-with-memory.ts';

/** One record, which is no event, of another client. */
function unreadableSpool(payload: string): Spool {
  let [untaken, waiting] = [1, 1];
  return {
    open: () => undefined,
    add: () => 'full',
    take: () => (untaken-- > 0 ? { events: batchOf([payload]), settle: () => void waiting-- } : undefined),
    waiting: () => waiting,
    untaken: () => ({ events: Math.max(0, untaken), bytes: Math.max(0, untaken) }),
    hasRoom: () => false,
    stats: () => ({ mode: 'spool', spoolBytes: 0, adoptedBytes: 0, damagedBytes: 0 }),
    close: () => undefined,
  };
}

describe('an event that can never be stored is handed back alone', () => {
  it('by its own result', async () => {
    const server = await startBatchServer();
    server.script(({ response, items }) => {
      const { results } = resultsOf(items);
      results[1] = { ...results[1], status: 'error', ...errorBody('customer_not_found') } as never;
      sendJson(response, 200, { results });
    });
    const { meter, rejected } = openMeter({ url: server.url });
    for (const one of keyed(3)) meter.track(one);
    expect(await meter.flush()).toEqual({ sent: 2, rejected: 1, waiting: 0 });
    expect(rejected).toEqual([
      ['k-1', { code: 'customer_not_found', message: 'as scripted: customer_not_found' }],
    ]);
  });

  it.each([
    ['details', { details: { index: 2 } }],
    ['the param', { param: 'events[2].value' }],
  ])('when a 400 names it in %s', async (_, named) => {
    const server = await startBatchServer();
    server.script(json(400, errorBody('invalid_request', named)));
    const { meter, rejected } = openMeter({ url: server.url });
    for (const one of keyed(4)) meter.track(one);
    expect(await meter.flush()).toEqual({ sent: 3, rejected: 1, waiting: 0 });
    expect(rejected.map(([key]) => key)).toEqual(['k-2']);
    expect(server.created).toEqual(['k-0', 'k-1', 'k-3']);
    expect(server.sizes).toEqual([4, 3]);
  });

  it('when nothing names it, by halving', async () => {
    const server = await startBatchServer();
    server.always(({ response, items }) => {
      const isPoisoned = items.some(({ idempotencyKey }) => idempotencyKey === 'k-77');
      if (isPoisoned) sendJson(response, 400, errorBody('invalid_request'));
      return isPoisoned;
    });
    const { meter, rejected } = openMeter({ url: server.url });
    for (const one of keyed(100)) meter.track(one);
    expect(await meter.flush()).toEqual({ sent: 99, rejected: 1, waiting: 0 });
    expect(rejected.map(([key, { code }]) => [key, code])).toEqual([['k-77', 'invalid_request']]);
    expect(server.sizes.length).toBeLessThan(20);
  });

  it.each([
    ['this API', json(413, errorBody('payload_too_large')), 10],
    ['a proxy', text(413, '<html>Request Entity Too Large</html>'), 20_000],
  ])(
    'when it is too large by itself for %s, and a batch that is too large is halved',
    async (_, act, size) => {
      const server = await startBatchServer();
      server.always((exchange) => {
        const { items } = exchange;
        const isLarge = items.length > 3 || items.some(({ idempotencyKey }) => idempotencyKey === 'k-5');
        if (isLarge) act(exchange);
        return isLarge;
      });
      const { meter, rejected } = openMeter({ url: server.url });
      for (const one of keyed(10)) meter.track({ ...one, properties: { note: 'x'.repeat(size) } });
      expect(await meter.flush()).toEqual({ sent: 9, rejected: 1, waiting: 0 });
      expect(rejected.map(([key]) => key)).toEqual(['k-5']);
    },
  );

  it('also when what the spool has of it cannot be read', async () => {
    const server = await startBatchServer();
    server.script(json(400, errorBody('invalid_request')));
    const { meter, problems, rejected } = openMeter({
      url: server.url,
      spool: unreadableSpool('"no event"'),
    });
    ownUsageOf(meter);
    expect(await meter.flush()).toEqual({ sent: 0, rejected: 1, waiting: 0 });
    expect([rejected, problems.map(({ code }) => code)]).toEqual([[], ['invalid_request']]);
  });

  it.each([
    ['no customer', { customerId: '' }],
    ['a value that is no number', { value: Number.NaN }],
    ['a date that is none', { occurredAt: new Date('never') }],
    ['a key that is too long', { idempotencyKey: 'k'.repeat(256) }],
    ['what is no JSON', { properties: { n: 1n as never } }],
    [
      'a member that throws what is no error',
      {
        toJSON: () => {
          throw Object.create(null);
        },
      } as never,
    ],
    ['a text as its JSON', { toJSON: () => 'acme' } as never],
    ['more than a request holds', { properties: { text: 'é'.repeat(600_000) } }],
  ])('before it is sent, with %s', async (_, more) => {
    const server = await startBatchServer();
    const { meter, rejected } = openMeter({ url: server.url });
    expect(meter.track(event(more))).toBe(false);
    expect(meter.track(undefined as never)).toBe(false);
    await pause(0);
    expect(rejected.map(([, { code }]) => code)).toEqual([
      expect.stringMatching(/^(invalid_event|payload_too_large)$/),
      'invalid_event',
    ]);
    expect([meter.stats().rejected, server.sizes]).toEqual([2, []]);
  });
});
