import { expect, test } from 'vitest';
import { send } from './count-events-under-test.ts';

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

// Red when an attribute takes the place of what the paths `$.body` and `$.resource` mean.
test('attributes named body and resource do not hide those of the record', async () => {
  const attributes = [...RECORD.attributes, text('body', 'x'), text('resource', 'y')];
  const record = { ...RECORD, attributes, body: { kvlistValue: { values: [text('tokens', '7')] } } };
  const groupBy = { service: "$.resource['service.name']" };
  const meters = { tokens: { eventType: 'prompt', valueProperty: '$.body.tokens', groupBy } };
  const { batches } = await send({ operation: 'logs', body: logsOf(record), meters });
  const [{ value, properties }] = JSON.parse(batches[0] ?? '').events;
  expect([value, properties]).toEqual([7, { service: 'gateway' }]);
});

// Red when usage of a time that cannot be read counts at the time of receipt, which may be another period.
test('a record whose time cannot be read is rejected; without one it has that of the receipt', async () => {
  const sent = async (times: object) => {
    const record = { ...RECORD, timeUnixNano: undefined, ...times };
    const { batches, shown } = await send({ operation: 'logs', body: logsOf(record), meters: LOG_METERS });
    const { partialSuccess } = JSON.parse(shown?.body ?? '');
    const reason = /`(\w+UnixNano)` must be/.exec(partialSuccess?.errorMessage ?? '')?.[1];
    return reason ?? JSON.parse(batches[0] ?? '').events[0].occurredAt ?? 'receipt';
  };
  for (const none of [
    {},
    { timeUnixNano: '0' },
    { timeUnixNano: 0 },
    { timeUnixNano: '' },
    { timeUnixNano: null },
  ]) {
    expect(await sent(none)).toBe('receipt');
  }
  const observed = '1793577600000000000';
  expect(await sent({ timeUnixNano: 0, observedTimeUnixNano: observed })).toBe('2026-11-02T00:00:00.000Z');
  for (const bad of ['18446744073709551615', '2026-11-02T00:00:00Z', '-1', '1.5', 'x', true, {}, 1.5, -1]) {
    expect(await sent({ timeUnixNano: bad, observedTimeUnixNano: observed })).toBe('timeUnixNano');
  }
  expect(await sent({ observedTimeUnixNano: 'x' })).toBe('observedTimeUnixNano');
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
