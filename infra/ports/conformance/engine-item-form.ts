import { expect, test } from 'vitest';
import type { CreateEngineHarness } from './engine-harness.ts';
import { REQUEST_ID, SOUND, sessionForEachTest } from './engine-session.ts';

interface Fault {
  what: string;
  /** Laid over a sound event; `undefined` removes the field. */
  change: Record<string, unknown>;
  code: string;
  param: string;
  status?: number;
}

const wrong = (what: string, change: Record<string, unknown>, param: string): Fault => {
  return { what, change, code: 'invalid_request', param };
};

const PROPERTIES_33 = Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`p${at}`, at]));
const LONE = '\ud800';

const FIELD_FAULTS: Fault[] = [
  ...['customerId', 'meterId'].flatMap((field) => [
    wrong(`no ${field}`, { [field]: undefined }, field),
    wrong(`an empty ${field}`, { [field]: '' }, field),
    wrong(`a number as ${field}`, { [field]: 12 }, field),
    wrong(`a long number as ${field}`, { [field]: 1e300 }, field),
    wrong(`an object as ${field}`, { [field]: { id: 'x' } }, field),
    wrong(`null as ${field}`, { [field]: null }, field),
    wrong(`129 characters of ${field}`, { [field]: 'x'.repeat(129) }, field),
    wrong(`U+0000 in ${field}`, { [field]: 'a\u0000b' }, field),
    wrong(`half a surrogate pair in ${field}`, { [field]: `a${LONE}` }, field),
  ]),
  wrong('no value', { value: undefined }, 'value'),
  wrong('a text as value', { value: '1' }, 'value'),
  wrong('null as value', { value: null }, 'value'),
  wrong('true as value', { value: true }, 'value'),
  wrong('an array as value', { value: [1] }, 'value'),
  wrong('a number as occurredAt', { occurredAt: 1_700_000_000 }, 'occurredAt'),
  wrong('a long number as occurredAt', { occurredAt: 1e300 }, 'occurredAt'),
  wrong('a date as occurredAt', { occurredAt: '2026-11-21' }, 'occurredAt'),
  wrong('a text as properties', { properties: 'model' }, 'properties'),
  wrong('an array as properties', { properties: [] }, 'properties'),
  wrong('33 properties', { properties: PROPERTIES_33 }, 'properties'),
  wrong('a property without a name', { properties: { '': 1 } }, 'properties.'),
  wrong(
    '65 characters of a property name',
    { properties: { ['n'.repeat(65)]: 1 } },
    `properties.${'n'.repeat(64)}`,
  ),
  wrong('257 characters of a property', { properties: { a: 1, p: 'x'.repeat(257) } }, 'properties.p'),
  wrong('an object as a property', { properties: { p: { q: 1 } } }, 'properties.p'),
  wrong('an array as a property', { properties: { p: [1] } }, 'properties.p'),
  wrong('U+0000 in a property', { properties: { p: '\u0000n1' } }, 'properties.p'),
  wrong('U+0000 in a property name', { properties: { 'a\u0000': 1 } }, 'properties.a\u0000'),
  wrong('half a surrogate pair in a property', { properties: { p: LONE } }, 'properties.p'),
  wrong('half a surrogate pair in a property name', { properties: { [LONE]: 1 } }, 'properties.\ufffd'),
  wrong('a property of 257 digits', { properties: { p: 1e256 } }, 'properties.p'),
  { ...wrong('a value of 16 integer digits', { value: 1e15 }, 'value'), code: 'value_invalid', status: 422 },
];

const KEY_FAULTS: Array<[string, unknown, string]> = [
  ['no key', undefined, 'idempotency_key_missing'],
  ['an empty key', '', 'idempotency_key_missing'],
  ['null as key', null, 'idempotency_key_missing'],
  ['a number as key', 7, 'idempotency_key_invalid'],
  ['a long number as key', 1e300, 'idempotency_key_invalid'],
  ['an object as key', {}, 'idempotency_key_invalid'],
  ['256 characters of key', 'k'.repeat(256), 'idempotency_key_invalid'],
  ['U+0000 in a key', 'a\u0000', 'idempotency_key_invalid'],
  ['a tabulator in a key', 'a\tb', 'idempotency_key_invalid'],
  ['U+007F in a key', 'a\u007f', 'idempotency_key_invalid'],
  ['U+0085 in a key', 'a\u0085', 'idempotency_key_invalid'],
  ['half a surrogate pair in a key', `a${LONE}`, 'idempotency_key_invalid'],
];

export function engineItemFormTests(create: CreateEngineHarness): void {
  const session = sessionForEachTest(create);

  test.each(FIELD_FAULTS)(
    '$what is $code, in the same words on every path, and leaves the key free',
    async ({ change, code, param, status = 400 }) => {
      const event = { ...SOUND, ...change };
      const single = await session().single(event, 'k');
      expect([single.status, single.commit]).toEqual([status, undefined]);
      expect(single.json).toEqual({
        error: { code, message: expect.any(String), param, requestId: REQUEST_ID },
      });
      const { message } = single.json.error;
      const item = { idempotencyKey: 'k', ...event };
      const batch = await session().batch([item]);
      const lines = await session().send({ kind: 'ndjson', body: JSON.stringify(item) });
      for (const sent of [batch, lines]) {
        expect(sent.status).toBe(200);
        expect(sent.json.summary).toEqual({ total: 1, created: 0, duplicate: 0, errors: 1 });
        expect(sent.json.results).toEqual([
          { index: 0, idempotencyKey: 'k', status: 'error', error: { code, message, param } },
        ]);
      }
      expect((await session().single(SOUND, 'k')).replayed).toBe(false);
    },
  );

  test.each(KEY_FAULTS)('%s is rejected', async (_, key, code) => {
    const { json, commit } = await session().batch([{ ...SOUND, idempotencyKey: key }]);
    const { message } = json.results[0]?.error ?? {};
    // Red when the mark of a long number (a secret of this process) is shown as if the client had sent it.
    const shown = typeof key === 'string' ? key : '';
    const param = 'idempotencyKey';
    expect(json.results).toEqual([
      {
        index: 0,
        idempotencyKey: shown,
        status: 'error',
        error: { code, message: expect.any(String), param },
      },
    ]);
    expect(commit).toBeUndefined();
    if (key !== undefined && typeof key !== 'string') return;
    const single = await session().single(SOUND, key);
    expect([single.status, single.json.error]).toEqual([
      400,
      { code, message, param: 'idempotencyKey', requestId: REQUEST_ID },
    ]);
  });

  /** Go writes a pointer that points nowhere as null. */
  test('an optional member that is null is absent, and so is a property that is null', async () => {
    const bare = await session().single(SOUND, 'k');
    for (const event of [
      { ...SOUND, occurredAt: null, properties: null },
      { ...SOUND, properties: { p: null, q: null } },
    ]) {
      const again = await session().single(event, 'k');
      expect([again.status, again.replayed, again.body]).toEqual([201, true, bare.body]);
    }
    const many = { ...PROPERTIES_33, p32: null };
    const { json } = await session().single({ ...SOUND, properties: { ...many, b: null } }, 'l');
    expect(Object.keys(json.properties)).toHaveLength(32);
  });

  test('an item that is no object is an error of its own, with an empty key', async () => {
    const strange = [null, true, 12, 1e300, 'event', [], [SOUND]];
    const { status, json } = await session().batch([...strange, { ...SOUND, idempotencyKey: 'k' }]);
    expect(status).toBe(200);
    expect(json.summary).toEqual({ total: 8, created: 1, duplicate: 0, errors: 7 });
    for (const [index] of strange.entries()) {
      expect(json.results[index]).toMatchObject({
        index,
        idempotencyKey: '',
        status: 'error',
        error: { code: 'invalid_request' },
      });
    }
    expect(json.results[7]).toMatchObject({ index: 7, idempotencyKey: 'k', status: 'created' });
  });

  // Red when either place is not looked at, or one wins over the other.
  test('the key of a single event is in its header, in its body, or the same in both', async () => {
    for (const key of ['order-東京', 'order-大阪', 'in ASCII', 'k'.repeat(255)]) {
      const first = await session().single({ idempotencyKey: key, ...SOUND });
      expect([first.status, first.replayed]).toEqual([201, false]);
      const both = await session().single({ ...SOUND, idempotencyKey: key }, key);
      expect([both.status, both.replayed, both.json.id]).toEqual([201, true, first.json.id]);
      for (const none of [null, '', undefined]) {
        const header = await session().single({ ...SOUND, idempotencyKey: none }, key);
        expect([header.status, header.replayed, header.json.id]).toEqual([201, true, first.json.id]);
      }
      const empty = await session().single({ ...SOUND, idempotencyKey: key }, '');
      expect([empty.status, empty.json.id]).toEqual([201, first.json.id]);
      const item = await session().batch([{ ...SOUND, idempotencyKey: key }]);
      expect(item.json.results[0]).toMatchObject({ status: 'duplicate', eventId: first.json.id });
    }
  });

  test('two keys of a single event that differ are rejected, and both stay free', async () => {
    for (const own of ['another', 'in the Header', ' ', 7, [], 1e300]) {
      const rejected = await session().single({ ...SOUND, idempotencyKey: own }, 'in the header');
      expect([rejected.status, rejected.commit]).toEqual([400, undefined]);
      expect(rejected.json.error).toMatchObject({ code: 'idempotency_key_invalid', param: 'idempotencyKey' });
    }
    for (const key of ['another', 'in the header']) {
      expect((await session().single(SOUND, key)).replayed).toBe(false);
    }
    for (const own of [undefined, null, '']) {
      const rejected = await session().single({ ...SOUND, idempotencyKey: own });
      expect(rejected.json.error.code).toBe('idempotency_key_missing');
    }
  });

  test('the longest of everything fits', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 32 }, (_, at) => [String(at).padStart(64, '\u0001'), '\u0002'.repeat(256)]),
    );
    const customerId = '\u{1f600}'.repeat(64);
    session().putCustomer({ id: 'cus_bbbbbbbbbbbbbbbbbbbbbbbbbb', externalId: customerId });
    const event = { customerId, meterId: '\uffff'.repeat(128), value: -999999999999999, properties };
    const { status, json, lines } = await session().single(event, '\u20ac'.repeat(255));
    expect([status, json.customerId, json.meterId]).toEqual([
      201,
      'cus_bbbbbbbbbbbbbbbbbbbbbbbbbb',
      event.meterId,
    ]);
    expect(json.properties).toEqual(properties);
    expect(JSON.parse(lines[0] ?? '')[7]).toEqual(properties);
  });
}
