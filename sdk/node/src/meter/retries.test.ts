import { createServer } from 'node:https';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seenInTime } from '../../../../tests/support/in-time.ts';
import { listenUntil } from '../../../../tests/support/listen.ts';
import { type Act, errorBody, resultsOf, sendJson, startBatchServer } from './batch-server-under-test.ts';
import { event, IN_TIME, json, keyed, openMeter, text } from './meter-under-test.ts';
import { UNTRUSTED } from './untrusted-certificate-under-test.ts';

/** Responses that say nothing about the events, which are sent again. */
const TRANSIENT: Array<[what: string, act: Act]> = [
  ['a connection that is reset', ({ response }) => void response.socket?.resetAndDestroy()],
  [
    'a response that is cut',
    ({ response }) => {
      response.writeHead(200, { 'content-length': '500' });
      response.write('{"results":[', () => response.socket?.destroy());
    },
  ],
  ['HTML with 200', text(200, '<html>Please sign in</html>', { 'content-type': 'text/html' })],
  ['nothing with 200', text(200, '')],
  ['a 200 with JSON of something else', json(200, { ok: true })],
  ['too few results', ({ response, items }) => sendJson(response, 200, resultsOf(items.slice(1)))],
  [
    'results of an unknown status',
    ({ response, items }) => {
      const { results } = resultsOf(items);
      sendJson(response, 200, { results: results.map((one) => ({ ...one, status: 'queued' })) });
    },
  ],
  [
    'results of other events',
    ({ response, items }) => {
      const others = items.map((item) => ({ ...item, idempotencyKey: `${item.idempotencyKey}x` }));
      sendJson(response, 200, resultsOf(others));
    },
  ],
  [
    'errors of other events',
    ({ response, items }) => {
      const error = { code: 'customer_not_found', message: 'as scripted' };
      const results = items.map((_, index) => ({ index, idempotencyKey: 'x', status: 'error', error }));
      sendJson(response, 200, { results });
    },
  ],
  ['a body that was changed on its way', json(400, errorBody('invalid_json'))],
  ['gzip that was changed on its way', json(400, errorBody('invalid_gzip'))],
  ['a 204', text(204, '')],
  ['a redirect', text(307, '', { location: '/api/v1/elsewhere' })],
  ['HTML with 400', text(400, '<html>Bad Request</html>')],
  ['HTML with 404', text(404, '<html>Not Found</html>')],
  ['HTML with 413', text(413, '<html>Request Entity Too Large</html>')],
  ['a 400 of a gateway', json(400, { error: { code: 'invalid_request', message: 'no such route' } })],
  ['another 400', json(400, errorBody('BadRequest'))],
  ['409', json(409, errorBody('invalid_request'))],
  ['408', json(408, errorBody('timeout'))],
  ['425', json(425, {})],
  ['429', json(429, errorBody('rate_limited'))],
  ['500', json(500, errorBody('internal'))],
  ['502 of a proxy', text(502, 'Bad Gateway')],
  ['503', json(503, errorBody('overloaded'), { 'retry-after': '0' })],
];

describe('an event is kept and sent again after', () => {
  it.each(TRANSIENT)('%s', async (_, act) => {
    const server = await startBatchServer();
    const { meter, problems, rejected } = openMeter({ url: server.url });
    server.script(act);
    for (const one of keyed(3)) meter.track(one);
    expect(await meter.flush()).toEqual({ sent: 3, rejected: 0, waiting: 0 });
    expect(server.created).toEqual(['k-0', 'k-1', 'k-2']);
    expect(server.sizes).toEqual([3, 3]);
    expect(rejected).toEqual([]);
    expect(problems).toHaveLength(1);
    expect(meter.stats().retries).toBe(1);
  });

  it('a response that does not come in time', async () => {
    const server = await startBatchServer();
    server.script(() => undefined);
    const { meter, problems } = openMeter({ url: server.url, timeoutMs: 50 });
    meter.track(event());
    expect(await meter.flush()).toMatchObject({ sent: 1 });
    expect(problems).toMatchObject([{ code: 'no_response' }]);
  });

  it('a body without an end', async () => {
    const server = await startBatchServer();
    server.script(({ response }) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    });
    const { meter } = openMeter({ url: server.url });
    meter.track(event());
    expect(await meter.flush()).toMatchObject({ sent: 1, waiting: 0 });
  });

  it('a rejected API key, until it is accepted, and says so once', async () => {
    const server = await startBatchServer();
    server.script(...Array.from({ length: 3 }, () => json(401, errorBody('unauthenticated'))));
    const { meter, problems } = openMeter({ url: server.url });
    meter.track(event());
    expect(await meter.flush()).toMatchObject({ sent: 1 });
    expect(problems).toMatchObject([{ code: 'unauthenticated', times: 1 }]);
  });

  it('no sooner than the server asks, and a date is understood', async () => {
    const server = await startBatchServer();
    const at: number[] = [];
    const reject =
      (retryAfter: () => string): Act =>
      ({ response }) => {
        at.push(performance.now());
        sendJson(response, 429, errorBody('rate_limited'), { 'retry-after': retryAfter() });
      };
    server.script(
      reject(() => '1'),
      reject(() => new Date(Date.now() + 1_500).toUTCString()),
      ({ response, items }) => {
        at.push(performance.now());
        sendJson(response, 200, resultsOf(items));
      },
    );
    const { meter } = openMeter({ url: server.url });
    meter.track(event());
    await meter.flush();
    const [first = 0, second = 0, third = 0] = at;
    expect(second - first).toBeGreaterThanOrEqual(990);
    expect(third - second).toBeGreaterThanOrEqual(200);
  });

  it('an item error of the server, alone', async () => {
    const server = await startBatchServer();
    server.script(({ response, items }) => {
      const { results } = resultsOf(items);
      results[1] = { ...results[1], status: 'error', ...errorBody('unavailable') } as never;
      sendJson(response, 200, { results });
    });
    const { meter, rejected } = openMeter({ url: server.url });
    for (const one of keyed(3)) meter.track(one);
    expect(await meter.flush()).toEqual({ sent: 3, rejected: 0, waiting: 0 });
    expect([server.sizes, server.created, rejected]).toEqual([[3, 1], ['k-1'], []]);
  });

  it('a connection whose certificate is not to be trusted, and never sends to it', async () => {
    let requests = 0;
    const server = createServer(UNTRUSTED, (_, response) => {
      requests += 1;
      response.end();
    });
    const { port } = await listenUntil(onTestFinished, server);
    const { meter, problems } = openMeter({ url: `https://127.0.0.1:${port}` });
    expect(meter.track(event())).toBe(true);
    const { message } = await seenInTime(() => problems[0], IN_TIME, 'a problem');
    expect(message).toMatch(/certificate/);
    expect([requests, meter.stats().waiting]).toEqual([0, 1]);
  });
});
