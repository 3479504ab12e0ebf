import { expect, test, vi } from 'vitest';
import { startDataPlaneUnderTest } from '../../ingest/data-plane-under-test.ts';
import { ofThisFile } from '../../tests/support/of-this-file.ts';

const plane = await ofThisFile(startDataPlaneUnderTest(), (started) => started.remove());
await plane.addCustomer('ada');
await plane.addMeter('tokens', {
  eventType: 'prompt',
  valueProperty: '$.tokens',
  groupBy: { model: '$.model' },
});
await plane.addMeter('prompts', { eventType: 'prompt' });

function cloudEvent(id: string, members: Record<string, unknown> = {}) {
  const data = { tokens: 12, model: 'large' };
  return { specversion: '1.0', id, source: '/gw', type: 'prompt', subject: 'ada', data, ...members };
}

function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${plane.origin()}/api/v1/${path}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: {
      authorization: `Bearer ${plane.keys.live.secret}`,
      'content-type': 'application/json',
      ...headers,
    },
  });
}

const summaryOf = async (body: unknown) => {
  const response = await post('events', body, { accept: 'application/json' });
  return [response.status, ((await response.json()) as { summary: unknown }).summary];
};

/** What the SDKs of OpenMeter send: the one in Python one event, or many; that in JavaScript always many. */
test.each([
  ['application/cloudevents+json', (id: string) => cloudEvent(id)],
  ['application/cloudevents-batch+json', (id: string) => [cloudEvent(id)]],
  ['application/json', (id: string) => cloudEvent(id)],
])('%s is counted once, and is 204 without a body', async (type, make) => {
  const event = make(type);
  const headers = { 'content-type': type, accept: '*/*' };
  const first = await post('events', event, headers);
  expect([first.status, await first.text(), first.headers.get('content-length')]).toEqual([204, '', null]);
  expect(first.headers.get('x-api-version')).toBe('v1');
  expect((await post('events/', event, headers)).status).toBe(204);
  const all = { total: 1, created: 0, duplicate: 1, unmetered: 0, errors: 0 };
  expect(await summaryOf(event)).toEqual([200, all]);
});

test('its usage events are those of an ordinary batch with the same keys, to the last digit', async () => {
  const event = JSON.stringify(cloudEvent('exact')).replace('12', '123456789012.123456789012');
  expect((await post('events', event)).status).toBe(204);
  const same =
    '{"events":[{"idempotencyKey":"ce:3:5:/gw:exact:tokens","customerId":"ada","meterId":"tokens",' +
    '"value":123456789012.123456789012,"properties":{"model":"large"}}]}';
  const response = await post('usage/events/batch?include=events', same);
  const text = await response.text();
  expect(text).toContain('"value":123456789012.123456789012');
  expect(JSON.parse(text)).toMatchObject({ results: [{ status: 'duplicate' }] });
});

/** Red when the cache is trusted for a type that it has no listeners of. */
test('a meter that begins to listen counts the next event', async () => {
  const event = cloudEvent('early', { type: 'reply' });
  const none = { total: 1, created: 0, duplicate: 0, unmetered: 1, errors: 0 };
  expect(await summaryOf(event)).toEqual([200, none]);
  await plane.addMeter('replies', { eventType: 'reply' });
  expect(await summaryOf(event)).toEqual([200, { ...none, created: 1, unmetered: 0 }]);
  await plane.addMeter('replies-too', { eventType: 'reply' });
  await vi.waitFor(async () => {
    const response = await post('events', cloudEvent('later', { type: 'reply' }), JSON_RESULTS);
    expect(((await response.json()) as Results).results[0]?.usageEvents).toHaveLength(2);
  });
});

const JSON_RESULTS = { accept: 'application/json' };
interface Results {
  results: Array<{ usageEvents: unknown[] }>;
}

test('a customer of the other mode, a key without the scope, and bad input change nothing', async () => {
  const other = await post('events', cloudEvent('o-1'), {
    authorization: `Bearer ${plane.keys.test.secret}`,
  });
  expect(other.headers.get('x-unmetered-events')).toBe('1');
  const publishable = { authorization: `Bearer ${plane.keys.live.publishable}` };
  expect((await post('events', cloudEvent('o-1'), publishable)).status).toBe(403);
  const stranger = await post('events', [cloudEvent('o-1'), cloudEvent('o-2', { subject: 'nobody' })]);
  expect(stranger.status).toBe(400);
  expect(await stranger.json()).toMatchObject({
    error: { details: { rejected: [{ index: 1, code: 'customer_not_found', param: 'subject' }] } },
  });
  for (const body of ['', '{', '[', '7', 'null', '[[]]', '{"specversion":"1.0"}', '["\\ud800"]']) {
    expect((await post('events', body)).status, body).toBe(400);
  }
  expect((await post('events', [])).status).toBe(204);
});
