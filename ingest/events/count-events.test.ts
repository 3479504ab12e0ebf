import { expect, test } from 'vitest';
import { type Sent, send as sendTo } from './count-events-under-test.ts';

const send = (sent: Sent) => sendTo({ meters: METERS, ...sent });

const METERS: NonNullable<Sent['meters']> = {
  tokens: { eventType: 'prompt', valueProperty: '$.tokens', groupBy: { model: '$.model' } },
  prompts: { eventType: 'prompt' },
};

const EVENT = {
  ...{ specversion: '1.0', id: 'e-1', source: '/gw', type: 'prompt', subject: 'acme' },
  ...{ time: '2026-11-01T00:00:00Z', data: { tokens: 12, model: 'large' } },
};
const JSON_RESULTS = { accept: 'application/json' };

/** Red when a number goes through a double, or when two meters get one key. */
test('one event becomes one usage event on every meter that listens, with the digits sent', async () => {
  const body = JSON.stringify(EVENT).replace('12', '123456789012.123456789012');
  const { batches, shown, counted, created } = await send({ body });
  expect(shown).toEqual({ status: 204, headers: {}, body: '' });
  expect(counted).toHaveBeenCalledWith(expect.objectContaining({ status: 204, unmetered: 0 }));
  expect(created.mock.calls).toEqual([[2]]);
  const rest = '"customerId":"acme","meterId"';
  const time = '"occurredAt":"2026-11-01T00:00:00Z"';
  expect(batches).toEqual([
    `{"events":[{"idempotencyKey":"ce:3:3:/gw:e-1:tokens",${rest}:"tokens",` +
      `"value":123456789012.123456789012,${time},"properties":{"model":"large"}},` +
      `{"idempotencyKey":"ce:3:3:/gw:e-1:prompts",${rest}:"prompts","value":1,${time}}]}`,
  ]);
});

test('filters, paths, texts that are numbers and unique meters', async () => {
  const meters = {
    large: { eventType: 'prompt', valueProperty: "$.usage['in'][1]", filters: { '$.model': ['large', 'x'] } },
    small: { eventType: 'prompt', filters: { '$.model': ['small'] } },
    ok: { eventType: 'prompt', filters: { ok: ['true'], '$.usage.code': ['200'] } },
    users: { eventType: 'prompt', property: 'user', valueProperty: '$.who' },
    others: { eventType: 'another' },
  };
  const data = { model: 'large', ok: true, who: 'ann', usage: { in: [0, '7.5'], code: 200 } };
  const { batches } = await send({ body: JSON.stringify([{ ...EVENT, data }]), meters });
  const { events } = JSON.parse(batches[0] ?? '') as { events: Array<Record<string, unknown>> };
  expect(events.map(({ meterId, value, properties }) => [meterId, value, properties])).toEqual([
    ['large', 7.5, undefined],
    ['ok', 1, undefined],
    ['users', 1, { user: 'ann' }],
  ]);
});

test('with Accept: application/json each event has its result, in the words of CloudEvents', async () => {
  const rejection = { code: 'customer_not_found', message: 'No `customerId`.', param: 'customerId' };
  const events = [EVENT, { ...EVENT, id: 'e-2', type: 'unheard' }, { ...EVENT, specversion: '0.3' }, 7];
  const { shown } = await send({
    body: JSON.stringify(events),
    headers: JSON_RESULTS,
    itemErrors: { 1: rejection },
  });
  expect(shown).toMatchObject({
    status: 200,
    headers: { 'x-item-errors': '3', 'x-unmetered-events': '1' },
  });
  const { summary, results } = JSON.parse(shown?.body ?? '') as Record<string, unknown>;
  expect(summary).toEqual({ total: 4, created: 0, duplicate: 0, unmetered: 1, errors: 3 });
  const error = { code: 'customer_not_found', message: 'No `subject`.', param: 'subject' };
  expect(results).toMatchObject([
    {
      ...{ index: 0, id: 'e-1', source: '/gw', status: 'error' },
      usageEvents: [
        { meterId: 'tokens', status: 'created', eventId: 'use_0' },
        { meterId: 'prompts', status: 'error', error },
      ],
    },
    { index: 1, status: 'unmetered', usageEvents: [] },
    { index: 2, status: 'error', error: { param: 'specversion' } },
    { index: 3, status: 'error', usageEvents: [] },
  ]);
});

/** Red when a client that reads the status alone takes a rejected event for a counted one. */
test('without it one rejected event makes the response an error that names it', async () => {
  const gone = { code: 'customer_not_found', message: 'No customer.', param: 'customerId' };
  const one = await send({ body: JSON.stringify(EVENT), itemErrors: { 0: gone } });
  expect(one.shown).toMatchObject({ status: 404, headers: { 'x-item-errors': '1' } });
  const events = [{ ...EVENT, data: {} }, EVENT];
  const many = await send({ body: JSON.stringify(events) });
  expect(many.shown?.status).toBe(400);
  expect(JSON.parse(many.shown?.body ?? '')).toMatchObject({
    error: { code: 'invalid_request', details: { rejected: [{ index: 0, id: 'e-1', param: 'data' }] } },
  });
  const passing = { code: 'unavailable', message: 'Later.' };
  const later = await send({ body: JSON.stringify(events), itemErrors: { 1: passing } });
  expect(later.shown).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
});

/** Red when what a client reads of a rejected event, or batch, is not what became of it. */
test('an error says which of it is counted all the same, and what no meter counts', async () => {
  const unheard = { ...EVENT, id: 'e-2', type: 'unheard' };
  const mixed = await send({ body: JSON.stringify([{ ...EVENT, id: 7 }, unheard]) });
  expect(mixed.shown?.headers).toMatchObject({ 'x-item-errors': '1', 'x-unmetered-events': '1' });
  const words = (shown: typeof mixed.shown) => JSON.parse(shown?.body ?? '').error;
  expect(words(mixed.shown).message).toMatch(
    /^1 of 2 events were rejected, [^:]*: .*\. Counted by no meter: 1\.$/,
  );
  const invalid = { code: 'value_invalid', message: 'No `value`.', param: 'value' };
  const partly = { body: JSON.stringify(EVENT), itemErrors: { 0: invalid } };
  const one = await send(partly);
  expect(words(one.shown)).toMatchObject({
    ...{ code: 'value_invalid', message: expect.stringContaining('Counted in part') },
    details: {
      usageEvents: [
        { meterId: 'tokens', status: 'error' },
        { meterId: 'prompts', status: 'created' },
      ],
    },
  });
  const many = await send({
    body: JSON.stringify([EVENT, unheard, { ...EVENT, id: 'e-3' }]),
    itemErrors: { 0: invalid },
  });
  const { message, details } = words(many.shown);
  expect(message).toMatch(/Counted in part: 1 of the rejected.* Counted: 1, .* Counted by no meter: 1\./);
  expect(details.rejected).toMatchObject([{ index: 0, usageEvents: [{}, { status: 'created' }] }]);
});

/** Red when the event that an error is of, or what the client reads of it, depends on how it was read. */
test.each([
  ['all good', {}, {}],
  ['with results', JSON_RESULTS, {}],
  [
    'an error in the second batch',
    {},
    { 1: { code: 'value_invalid', message: 'No `value`.', param: 'value' } },
  ],
  ['an error and results', JSON_RESULTS, { 0: { code: 'unavailable', message: 'Later.' } }],
])('%s: events of the common form are responded to as all others', async (_, headers, itemErrors) => {
  const events = Array.from({ length: 700 }, (_, at) => ({ ...EVENT, id: `e-${at}` }));
  const meters = { tokens: METERS.tokens ?? { eventType: '' } };
  const both = [true, false].map(async (areKnown) => {
    const { shown, batches } = await send({
      body: JSON.stringify(events),
      headers,
      itemErrors,
      meters,
      areKnown,
    });
    return { shown, sizes: batches.map((batch) => JSON.parse(batch).events.length) };
  });
  const [common, others] = await Promise.all(both);
  expect(common).toEqual(others);
  expect(common?.sizes).toEqual([500, 200]);
});

test('an event that no meter counts is acknowledged and said; handling=strict rejects it', async () => {
  const body = JSON.stringify({ ...EVENT, type: 'unheard' });
  const { shown, batches } = await send({ body });
  expect([shown, batches]).toEqual([{ status: 204, headers: { 'x-unmetered-events': '1' }, body: '' }, []]);
  const strict = await send({ body, headers: { prefer: 'handling=strict' } });
  expect(strict.shown?.status).toBe(404);
});

test('binary mode: attributes are headers, percent-encoded, and the body is the data', async () => {
  const headers = {
    'ce-specversion': '1.0',
    'ce-id': 'e%20%C3%A4',
    'ce-source': '/gw%',
    'ce-type': 'prompt',
    'ce-subject': 'acme',
  };
  const { batches, shown } = await send({ body: '{"tokens":3}', headers });
  expect(shown?.status).toBe(204);
  expect(batches[0]).toContain('"idempotencyKey":"ce:4:3:/gw%:e ä:tokens"');
  const bare = await send({ body: '', headers, meters: { prompts: { eventType: 'prompt' } } });
  expect(bare.shown?.status).toBe(204);
});

test.each([
  ['application/cloudevents+json', JSON.stringify([EVENT]), 'invalid_request'],
  ['application/cloudevents-batch+json', JSON.stringify(EVENT), 'invalid_request'],
  ['application/cloudevents+json; charset=UTF-8', '{', 'invalid_json'],
  ['application/cloudevents-batch+json', JSON.stringify(Array(10_001).fill(7)), 'batch_too_large'],
  ['text/plain', '{}', 'unsupported_media_type'],
])('%s %#: the request as a whole is rejected', async (type, body, code) => {
  const { rejected, batches } = await send({ body, headers: { 'content-type': type } });
  expect([rejected, batches]).toMatchObject([[{ code }], []]);
});

/** Red when a body with many values is cut as those of usage events are: what is left out would be lost. */
test('events are counted whole, however much structure they have', async () => {
  const data = { tokens: [[[[[[7]]]]]], more: Array(400).fill(0) };
  const meters = { deep: { eventType: 'prompt', valueProperty: '$.tokens[0][0][0][0][0][0]' } };
  const events = Array.from({ length: 600 }, (_, at) => ({ ...EVENT, id: `e-${at}`, data }));
  const sizes: number[] = [];
  for (const sent of [
    events.slice(0, 100),
    events.map((one) => ({ ...one, data: { tokens: data.tokens } })),
  ]) {
    const { batches, shown } = await send({ body: JSON.stringify(sent), meters });
    expect(shown?.status).toBe(204);
    const items = batches.flatMap((body) => JSON.parse(body).events as Array<{ value: number }>);
    expect(items.every(({ value }) => value === 7)).toBe(true);
    sizes.push(items.length);
  }
  expect(sizes).toEqual([100, 600]);
  const { rejected } = await send({ body: `[${'[],'.repeat(200_000)}[]]` });
  expect(rejected).toMatchObject([{ code: 'payload_too_large' }]);
});

test('more usage than a batch holds goes in several, and more than 4 MiB is rejected', async () => {
  const events = Array.from({ length: 300 }, (_, at) => ({ ...EVENT, id: `e-${at}` }));
  const { batches, shown } = await send({ body: JSON.stringify(events) });
  expect([shown?.status, batches.length]).toEqual([204, 2]);
  const laterFault = { code: 'unavailable', message: 'Later.' };
  const failed = await send({ body: JSON.stringify(events), laterFault });
  // What is durable is in the metrics, also where the response is another's.
  expect([failed.rejected, failed.created.mock.calls]).toEqual([[laterFault], [[500]]]);
  const wide = Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => [`m${at}`, { eventType: 'prompt', groupBy: { a: 'a', b: 'b' } }]),
  );
  const data = { a: 'x'.repeat(250), b: 'y'.repeat(250) };
  const large = events.map((event) => ({ ...event, data }));
  const tooMuch = await send({ body: JSON.stringify(large), meters: wide });
  expect([tooMuch.rejected, tooMuch.batches]).toMatchObject([[{ code: 'batch_too_large' }], []]);
});

test.each([
  [{ data: { tokens: '1e3' } }, undefined],
  [{ data: { tokens: '0x10' } }, 'data'],
  [{ data: { tokens: null } }, 'data'],
  [{ data: [1] }, 'data'],
  [{ data: { tokens: 1, model: 'm'.repeat(257) } }, 'data'],
  [{ data: { tokens: 1, model: { deep: 1 } } }, undefined],
  [{ id: '' }, 'id'],
  [{ subject: 7 }, 'subject'],
  [{ time: 5 }, 'time'],
  [{ data: undefined, data_base64: 'AA==' }, 'data_base64'],
  [{ traceparent: '00-x', data: { tokens: 1 } }, undefined],
])('%j is rejected by %s', async (members, param) => {
  const { shown } = await send({ body: JSON.stringify({ ...EVENT, ...members }) });
  const { error } = JSON.parse(shown?.body || '{}') as { error?: { param?: string } };
  expect([shown?.status === 204, error?.param]).toEqual([param === undefined, param]);
});
