import { describe, expect, it } from 'vitest';
import { seenInTime } from '../../../../tests/support/in-time.ts';
import { isLoopback } from './batch-body.ts';
import { errorBody, resultsOf, sendJson, startBatchServer } from './batch-server-under-test.ts';
import { event, IN_TIME, json, keyed, openMeter } from './meter-under-test.ts';

describe('a meter', () => {
  it('sends what was tracked, in order, with a key and the time of the call', async () => {
    const server = await startBatchServer();
    const { meter } = openMeter({ url: `${server.url}/` });
    const before = Date.now();
    for (let at = 0; at < 3; at++) expect(meter.track(event({ value: at }))).toBe(true);
    expect(await meter.flush()).toEqual({ sent: 3, rejected: 0, waiting: 0 });
    expect(server.sizes).toEqual([3]);
    const [request] = server.requests;
    expect(request?.url).toBe('/api/v1/usage/events/batch');
    expect(request?.headers.authorization).toBe('Bearer sk_test_1');
    expect(new Set(server.created).size).toBe(3);
    for (const key of server.created) expect(key).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(meter.stats()).toMatchObject({ tracked: 3, sent: 3, duplicates: 0, waiting: 0, mode: 'memory' });
    expect(Date.now() - before).toBeLessThan(60_000);
  });

  it('sends by itself after the linger, and full batches of 500 without it', async () => {
    const server = await startBatchServer();
    const { meter } = openMeter({ url: server.url, lingerMs: 30, gzip: true });
    for (const one of keyed(1_200)) meter.track(one);
    await seenInTime(() => meter.stats().waiting === 0 || undefined, IN_TIME, 'all to be sent');
    expect([...server.sizes].sort()).toEqual([200, 500, 500]);
    expect(server.requests[0]?.headers['content-encoding']).toBe('gzip');
    expect([...server.created].sort()).toEqual(
      keyed(1_200)
        .map((one) => one.idempotencyKey)
        .sort(),
    );
  });

  it.each([
    ['http://localhost:8080', true],
    ['https://127.0.0.1', true],
    ['http://[::1]:80/x', true],
    ['https://127.0.0.1.example.com', false],
    ['http://usage.example.com/127.0.0.1', false],
  ])('compresses unless the server is on this machine: %s', (url, isHere) => {
    expect(isLoopback(url)).toBe(isHere);
  });

  it('has no body above 1 MiB', async () => {
    const server = await startBatchServer();
    const { meter } = openMeter({ url: server.url });
    const properties = { note: 'é'.repeat(3_000) };
    for (const one of keyed(400)) meter.track({ ...one, properties });
    await meter.flush();
    expect(server.created).toHaveLength(400);
    for (const { headers } of server.requests) {
      expect(Number(headers['content-length'])).toBeLessThanOrEqual(1024 * 1024);
    }
  });

  it('flushes what is tracked meanwhile too', async () => {
    const server = await startBatchServer();
    server.script(({ response, items }) => {
      meter.track(event({ idempotencyKey: 'late' }));
      sendJson(response, 200, resultsOf(items));
    });
    const { meter } = openMeter({ url: server.url, lingerMs: 60_000 });
    meter.track(event());
    expect(await meter.flush()).toEqual({ sent: 2, rejected: 0, waiting: 0 });
    expect(server.created).toEqual(['late']);
  });
});

describe('trouble', () => {
  it('of one batch holds up no other', async () => {
    const server = await startBatchServer();
    server.always(({ response, items }) => {
      const isPoisoned = items.some(({ idempotencyKey }) => idempotencyKey === 'k-0');
      if (isPoisoned) sendJson(response, 500, errorBody('internal'));
      return isPoisoned;
    });
    const { meter } = openMeter({ url: server.url, batchEventsMax: 10 });
    for (const one of keyed(500)) meter.track(one);
    await seenInTime(() => meter.stats().sent === 499 || undefined, IN_TIME, 'the other batches');
    expect(meter.stats()).toMatchObject({ sent: 499, rejected: 0 });
    server.always(() => false);
    expect(await meter.flush()).toMatchObject({ sent: 1, waiting: 0 });
  });

  it('of the server is tried by one request at a time', async () => {
    const server = await startBatchServer();
    let open = 0;
    let most = 0;
    server.script(...Array.from({ length: 4 }, () => json(503, errorBody('overloaded'))));
    server.always(({ response }) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open -= 1;
        sendJson(response, 503, errorBody('overloaded'));
      }, 5);
      return true;
    });
    const { meter } = openMeter({ url: server.url, batchEventsMax: 10 });
    for (const one of keyed(100)) meter.track(one);
    await seenInTime(() => server.sizes.length > 20 || undefined, IN_TIME, 'twenty tries');
    expect(most).toBe(1);
    expect(meter.stats()).toMatchObject({ sent: 0, waiting: 100 });
    server.always(() => false);
    expect(await meter.flush()).toEqual({ sent: 100, rejected: 0, waiting: 0 });
  });

  it('that fills the memory drops the newest events, counts them, and says so', async () => {
    const server = await startBatchServer();
    server.always(({ response }) => {
      sendJson(response, 503, errorBody('overloaded'));
      return true;
    });
    const { meter, problems } = openMeter({ url: server.url, memory: { eventsMax: 50 } });
    const taken = keyed(60).map((one) => meter.track(one));
    expect(taken).toEqual([...Array(50).fill(true), ...Array(10).fill(false)]);
    const waited = meter.trackWhenRoom(event({ idempotencyKey: 'waited' }));
    expect(meter.stats()).toMatchObject({ tracked: 50, dropped: 10, waiting: 50 });
    server.always(() => false);
    expect(await waited).toBe(true);
    await meter.flush();
    expect(server.created).toHaveLength(51);
    expect(problems.filter(({ code }) => code === 'buffer_full')).toHaveLength(1);
  });

  it('in callbacks stays there', async () => {
    const server = await startBatchServer();
    server.script(json(500, errorBody('internal')), json(400, errorBody('invalid_request')));
    const fail = () => {
      throw new Error('of the application');
    };
    const { meter } = openMeter({ url: server.url, onError: fail, onRejected: async () => fail() });
    meter.track(event());
    expect(await meter.flush()).toEqual({ sent: 0, rejected: 1, waiting: 0 });
  });

  it('that lasts ends a close in time, which says what is lost', async () => {
    const server = await startBatchServer();
    server.script(() => undefined);
    const { meter } = openMeter({ url: server.url });
    meter.track(event());
    expect(await meter.close({ timeoutMs: 50 })).toEqual({ sent: 0, rejected: 0, waiting: 1 });
    expect(meter.track(event())).toBe(false);
    expect(meter.stats()).toMatchObject({ dropped: 1, tracked: 1 });
  });

  it('of a name that does not resolve is reported', async () => {
    const { meter, problems } = openMeter({ url: 'http://nowhere.invalid' });
    meter.track(event());
    await seenInTime(() => problems[0], IN_TIME, 'a problem');
    expect(problems).toMatchObject([{ code: 'no_response' }]);
    expect(await meter.flush({ timeoutMs: 10 })).toEqual({ sent: 0, rejected: 0, waiting: 1 });
  });
});
