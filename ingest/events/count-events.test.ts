import { expect, test, vi } from 'vitest';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { EventSource } from '../../schemas/resources/meters.ts';
import type { BeginUsage } from '../begin-usage.ts';
import { createAdmission } from '../http/admission.ts';
import type { UsageResponses } from '../http/usage-responses.ts';
import { createCountEvents } from './count-events.ts';
import { readEventsHead } from './events-head.ts';
import { type Listener, listenerOf } from './listener.ts';

interface Sent {
  body: string;
  operation?: 'events' | 'logs';
  headers?: Record<string, string>;
  meters?: Record<string, EventSource & { property?: string }>;
  /** Of items, by their place; all others are created. */
  itemErrors?: Record<number, { code: string; message: string; param?: string }>;
}

/** What the response says, and which batches went to the engine. */
async function send({ body, operation = 'events', headers = {}, meters = METERS, itemErrors = {} }: Sent) {
  const batches: string[] = [];
  const admission = createAdmission(8 * 1024 * 1024);
  const begin: BeginUsage = (request, reply) => {
    const { events } = JSON.parse(request.body.toString()) as { events: unknown[] };
    batches.push(request.body.toString());
    const results = events.map((_, at) => {
      const error = itemErrors[at];
      return error ? { status: 'error', error } : { status: 'created', eventId: `use_${at}` };
    });
    const text = JSON.stringify({ results });
    const faulty = Object.keys(itemErrors).length;
    const response = { status: 200, replayed: false, body: Buffer.from(text), itemErrors: faulty };
    setImmediate(() => reply.respond(response, events.length - faulty));
  };
  const shown: Array<{ status: number; headers: Record<string, string>; body: string }> = [];
  const exchange = {
    headers: new Map(Object.entries({ 'content-type': 'application/json', ...headers })),
    query: '',
    requestId: 'req-1',
    respond: (status: number, sent: Record<string, string>, text: Buffer) =>
      shown.push({ status, headers: sent, body: text.toString() }),
    begin: (status: number, pairs: Array<[string, string]>) =>
      shown.push({ status, headers: Object.fromEntries(pairs), body: '' }),
    end: () => undefined,
  } as unknown as Exchange; // nothing else of it is used
  const rejected: unknown[] = [];
  const keep = (_: Exchange, what: unknown) => rejected.push(what);
  const responses = { reject: keep, fail: keep } as unknown as UsageResponses; // likewise
  const byType = new Map<string, Listener[]>();
  for (const [key, { property, ...eventSource }] of Object.entries(meters)) {
    const aggregation = property === undefined ? 'sum' : 'unique';
    const listener = listenerOf({ key, aggregation, property, eventSource });
    byType.set(eventSource.eventType, [...(byType.get(eventSource.eventType) ?? []), listener]);
  }
  const listeners = { find: () => byType, forget: () => undefined, clear: () => undefined };
  const counted = vi.fn();
  const noSpace = { code: 'unavailable', message: 'full' } as const;
  const count = createCountEvents({ listeners, admission, begin, responses, counted, noSpace });
  const head = readEventsHead(exchange, operation);
  if ('code' in head) return { batches, shown: undefined, rejected: [head] };
  await new Promise<void>((resolve) => {
    count(exchange, 'ws_a:live', head, { body: Buffer.from(body), isKept: true, release: resolve });
  });
  expect(admission.held).toBe(0);
  return { batches, shown: shown[0], rejected, counted };
}

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
  const { batches, shown, counted } = await send({ body });
  expect(shown).toEqual({ status: 204, headers: {}, body: '' });
  expect(counted).toHaveBeenCalledWith(expect.objectContaining({ status: 204, unmetered: 0 }), 2);
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

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const RECORD = {
  timeUnixNano: '1793577600123456789',
  eventName: 'prompt',
  attributes: [
    text('log.record.uid', 'r-1'),
    text('metergate.customer', 'acme'),
    text('gen_ai.request.model', 'large'),
    { key: 'gen_ai.usage.input_tokens', value: { intValue: '1234' } },
  ],
};

function logsOf(...logRecords: unknown[]): string {
  const resource = { attributes: [text('service.name', 'gateway')] };
  return JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
}

const LOG_METERS = {
  tokens: {
    eventType: 'prompt',
    valueProperty: 'gen_ai.usage.input_tokens',
    groupBy: { model: 'gen_ai.request.model', service: "$.resource['service.name']" },
  },
};

test('log records of OTLP with a name are events, by the same mapping', async () => {
  const nameless = { ...RECORD, eventName: '', attributes: [] };
  const unheard = { ...RECORD, eventName: 'unheard', attributes: [] };
  const body = logsOf(RECORD, nameless, unheard);
  const { batches, shown } = await send({ operation: 'logs', body, meters: LOG_METERS });
  const type = 'application/json';
  expect(shown).toEqual({
    status: 200,
    headers: { 'content-type': type, 'x-unmetered-events': '1' },
    body: '{}',
  });
  expect(batches).toEqual([
    '{"events":[{"idempotencyKey":"ce:7:3:gateway:r-1:tokens","customerId":"acme","meterId":"tokens",' +
      '"value":1234,"occurredAt":"2026-11-02T00:00:00.123Z",' +
      '"properties":{"model":"large","service":"gateway"}}]}',
  ]);
});

/** Red when an exporter, which sends nothing again after a 200, loses what would have been taken later. */
test('what of an export is rejected is said, and what may be taken later is sent again', async () => {
  const body = logsOf(RECORD, { ...RECORD, attributes: RECORD.attributes.slice(1) });
  const partial = await send({ operation: 'logs', body, meters: LOG_METERS });
  expect(JSON.parse(partial.shown?.body ?? '')).toEqual({
    partialSuccess: { rejectedLogRecords: '1', errorMessage: expect.stringContaining('log.record.uid') },
  });
  const itemErrors = { 0: { code: 'unavailable', message: 'Later.' } };
  const later = await send({ operation: 'logs', body: logsOf(RECORD), meters: LOG_METERS, itemErrors });
  expect(later.shown).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  for (const wrong of ['[]', '{}', '{"resourceLogs":{}}', '7']) {
    const { rejected } = await send({ operation: 'logs', body: wrong, meters: LOG_METERS });
    expect(rejected).toMatchObject([{ code: 'invalid_request' }]);
  }
  const proto = { 'content-type': 'application/x-protobuf' };
  const { rejected } = await send({ operation: 'logs', body: '', headers: proto });
  expect(rejected).toMatchObject([{ code: 'unsupported_media_type' }]);
});
