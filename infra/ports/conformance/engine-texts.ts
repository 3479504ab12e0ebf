import { expect, test } from 'vitest';
import type { CreateEngineHarness } from './engine-harness.ts';
import { columnsOf, NOW_MS, SOUND, sessionForEachTest } from './engine-session.ts';

/** As sent, as returned. The clock is late enough that none is in the future, and none is too old. */
const TIMES: Array<[string, string]> = [
  ['2026-11-21T12:00:00Z', '2026-11-21T12:00:00.000Z'],
  ['2026-11-21t12:00:00z', '2026-11-21T12:00:00.000Z'],
  ['2026-11-21T12:00:00.1Z', '2026-11-21T12:00:00.100Z'],
  ['2026-11-21T12:00:00.12Z', '2026-11-21T12:00:00.120Z'],
  ['2026-11-21T12:00:00.123Z', '2026-11-21T12:00:00.123Z'],
  ['2026-11-21T12:00:00.123999999Z', '2026-11-21T12:00:00.123Z'],
  ['2026-11-21T12:00:00.000000001Z', '2026-11-21T12:00:00.000Z'],
  ['2026-11-21T12:00:00+00:00', '2026-11-21T12:00:00.000Z'],
  ['2026-11-21T12:00:00-00:00', '2026-11-21T12:00:00.000Z'],
  ['2026-11-21T00:30:00.5+05:30', '2026-11-20T19:00:00.500Z'],
  ['2026-11-20T23:30:00-12:00', '2026-11-21T11:30:00.000Z'],
  ['2026-11-21T00:00:00+23:59', '2026-11-20T00:01:00.000Z'],
  ['2026-02-28T23:59:59.999Z', '2026-02-28T23:59:59.999Z'],
  ['2026-01-01T00:00:00+00:01', '2025-12-31T23:59:00.000Z'],
  ['2026-11-21T12:00Z', '2026-11-21T12:00:00.000Z'],
  ['2026-11-21T13:00+01:00', '2026-11-21T12:00:00.000Z'],
  ['2026-11-21 12:00:00Z', '2026-11-21T12:00:00.000Z'],
  ['2026-11-21 12:00:00.123456+0000', '2026-11-21T12:00:00.123Z'],
  ['2026-11-21T13:30:00+0130', '2026-11-21T12:00:00.000Z'],
];

const NO_TIMES = [
  '',
  '2026-11-21',
  '2026-11-21T12Z',
  '2026-11-21T12:00',
  '2026-11-21T12:00:00',
  '2026-11-21T12:00:00.1234567890Z',
  '2026-11-21_12:00:00Z',
  '2026-11-21T12:00:00,5Z',
  '2026-11-21T12:00:00.Z',
  '2026-11-21T12:00:00 Z',
  ' 2026-11-21T12:00:00Z',
  '2026-11-21T12:00:00Z ',
  '2026-11-21T12:00:00ZZ',
  '2026-11-21T12:00:00+01',
  '2026-11-21T12:00:00+24:00',
  '2026-11-21T12:00:00+00:60',
  '2026-11-21T24:00:00Z',
  '2026-11-21T12:60:00Z',
  '2026-11-21T23:59:60Z',
  '2026-00-21T12:00:00Z',
  '2026-13-21T12:00:00Z',
  '2026-11-00T12:00:00Z',
  '2026-11-31T12:00:00Z',
  '2026-02-29T12:00:00Z',
  '1900-02-29T12:00:00Z',
  '+002026-11-21T12:00:00Z',
  '-026-11-21T12:00:00Z',
  '20261-11-21T12:00:00Z',
  '２０２６-11-21T12:00:00Z',
  'Sat, 21 Nov 2026 12:00:00 GMT',
  `2026-11-21T12:00:00.${'0'.repeat(100)}Z`,
];

/** Right in form, whatever their age: 29 February of leap years, the first year and the last. */
const FAR_TIMES: Array<[string, string]> = [
  ['2024-02-29T12:00:00Z', 'event_too_old'],
  ['2000-02-29T12:00:00Z', 'event_too_old'],
  ['0000-02-29T00:00:00Z', 'event_too_old'],
  ['0000-01-01T00:00:00+23:59', 'event_too_old'],
  ['9999-12-31T23:59:59.999Z', 'event_in_future'],
  ['9999-12-31T23:59:59-23:59', 'event_in_future'],
];

const TEXTS = [
  ...['', ' ', '"', '\\', '\\u0000', '\u0001\u001f', '\n\r\t', '\u007f', '\u2028\u2029', '</script>', "'"],
  ...['\u{1f600}', '\uffff', '\ufeff', 'ä', 'a\u0308', '=', 'null', '1', 'true'],
  ...['x'.repeat(256), '\u{1f600}'.repeat(128)],
];

const NAMES = [
  ...['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'length', '0', '-1'],
  ...['ä', '"', '\\', '\u0001', ' ', 'n'.repeat(64), '\u{1f600}'.repeat(32)],
];

export function engineTextTests(create: CreateEngineHarness): void {
  const session = sessionForEachTest(create);

  test.each(TIMES)('occurredAt %s is %s', async (occurredAt, responded) => {
    const { json, lines } = await session().single({ ...SOUND, occurredAt }, 'k');
    expect(json.occurredAt).toBe(responded);
    expect(columnsOf(lines[0] ?? '').occurred_at).toBe(Date.parse(responded));
  });

  test.each(NO_TIMES)('occurredAt "%s" is rejected', async (occurredAt) => {
    const { status, json } = await session().single({ ...SOUND, occurredAt }, 'k');
    expect([status, json.error]).toMatchObject([400, { code: 'invalid_request', param: 'occurredAt' }]);
    expect(json.error.message).toMatch(/^`occurredAt` .+; the right form is 2026-11-01T12:30:00.000Z\.$/);
  });

  test.each(FAR_TIMES)('occurredAt %s is a timestamp, and %s', async (occurredAt, code) => {
    const { status, json } = await session().single({ ...SOUND, occurredAt }, 'k');
    expect([status, json.error]).toMatchObject([422, { code, param: 'occurredAt' }]);
  });

  test('an event without occurredAt occurred when it was stored', async () => {
    const { json, lines } = await session().single(SOUND, 'k');
    expect(json.occurredAt).toBe(new Date(NOW_MS).toISOString());
    expect(json.createdAt).toBe(json.occurredAt);
    expect(columnsOf(lines[0] ?? '')).toMatchObject({ occurred_at: NOW_MS, created_at: NOW_MS });
  });

  test('createdAt never goes back, whatever the clock does', async () => {
    await session().single(SOUND, 'a');
    session().setNow(NOW_MS - 60_000);
    expect((await session().single(SOUND, 'b')).json.createdAt).toBe(new Date(NOW_MS).toISOString());
  });

  test.each(TEXTS.map((text) => [text]))('the text %j comes back as it was sent', async (text) => {
    const { json, lines } = await session().single({ ...SOUND, properties: { text } }, 'k');
    expect(json.properties).toEqual({ text });
    expect(columnsOf(lines[0] ?? '').properties).toEqual({ text });
  });

  test.each(NAMES.map((name) => [name]))('a property may be named %j', async (name) => {
    const body = JSON.stringify({ ...SOUND, properties: 0 }).replace(
      '"properties":0',
      `"properties":{${JSON.stringify(name)}:7}`,
    );
    const sent = await session().send({ kind: 'single', body, idempotencyKey: 'k' });
    expect(sent.status).toBe(201);
    expect(sent.body.toString()).toContain(`"properties":{${JSON.stringify(name)}:7}`);
    expect(sent.lines[0]).toContain(`,{${JSON.stringify(name)}:"\\u0000n7"},`);
  });

  test('properties keep their type, and are returned in one order', async () => {
    const properties = { z: 'text', b: true, a: 1.5, c: false, t: 'true', n: '1.5', e: '', zero: 0 };
    const { json, body, lines } = await session().single({ ...SOUND, properties }, 'k');
    expect(json.properties).toEqual(properties);
    expect(Object.keys(json.properties)).toEqual(Object.keys(properties).sort());
    expect(body.toString()).toContain('"a":1.5,"b":true,"c":false,"e":"","n":"1.5","t":"true"');
    expect(columnsOf(lines[0] ?? '').properties).toEqual({
      a: '\u0000n1.5',
      b: '\u0000btrue',
      c: '\u0000bfalse',
      e: '',
      n: '1.5',
      t: 'true',
      z: 'text',
      zero: '\u0000n0',
    });
  });

  test('an event without properties shows none', async () => {
    for (const [key, properties] of [
      ['a', {}],
      ['b', undefined],
    ] as const) {
      const { json, lines } = await session().single({ ...SOUND, properties }, key);
      expect('properties' in json).toBe(false);
      expect(columnsOf(lines[0] ?? '').properties).toEqual({});
    }
  });
}
