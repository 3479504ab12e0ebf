import { expect, test } from 'vitest';
import type { CreateEngineHarness } from './engine-harness.ts';
import { columnsOf, NOW_MS, REQUEST_ID, SOUND, sessionForEachTest } from './engine-session.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const at = (ms: number) => new Date(ms).toISOString();

const STATES: Array<[string, Record<string, unknown>, string, number, string]> = [
  ['an unknown customer', { customerId: 'nobody' }, 'customer_not_found', 404, 'customerId'],
  ['an archived customer', { customerId: 'gone' }, 'customer_archived', 409, 'customerId'],
  ['an unknown meter id', { meterId: 'meter_aaaaaaaaaaaaaaaaaaaaaaaaaa' }, 'meter_not_found', 404, 'meterId'],
  ['an archived meter', { meterId: 'old_calls' }, 'meter_archived', 409, 'meterId'],
  ['a time too far back', { occurredAt: at(NOW_MS - 400 * DAY_MS - 1) }, 'event_too_old', 422, 'occurredAt'],
  [
    'a time too far ahead',
    { occurredAt: at(NOW_MS + 5 * MINUTE_MS + 1) },
    'event_in_future',
    422,
    'occurredAt',
  ],
];

export function engineStateTests(create: CreateEngineHarness): void {
  const session = sessionForEachTest(create);
  const prepare = () => {
    session().putCustomer({ id: 'cus_gggggggggggggggggggggggggg', externalId: 'gone', archived: true });
    session().putMeter({ key: 'old_calls', archived: true });
  };

  test.each(STATES)('%s is rejected and leaves the key free', async (...[, change, code, status, param]) => {
    prepare();
    const event = { ...SOUND, ...change };
    const single = await session().single(event, 'k');
    expect([single.status, single.commit]).toEqual([status, undefined]);
    expect(single.json).toEqual({
      error: { code, message: expect.any(String), param, requestId: REQUEST_ID },
    });
    const { message } = single.json.error;
    const { json } = await session().batch([{ idempotencyKey: 'k', ...event }], { includeEvents: true });
    expect(json.results).toEqual([
      { index: 0, idempotencyKey: 'k', status: 'error', error: { code, message, param } },
    ]);
    expect((await session().single(SOUND, 'k')).replayed).toBe(false);
  });

  /** Red when state is judged before the key, or the key before the form. */
  test.each(STATES)(
    'for %s the form is judged first, then the key, then the state',
    async (_, change, code) => {
      prepare();
      const codes = async (event: object) => {
        const { json } = await session().batch([{ idempotencyKey: 'used', ...event }]);
        return json.results[0]?.error?.code ?? json.results[0]?.status;
      };
      await session().single({ ...SOUND, value: 77 }, 'used');
      expect(await codes({ ...SOUND, ...change, value: 'x' })).toBe('invalid_request');
      expect(await codes({ ...SOUND, ...change, value: 1e300 })).toBe('value_invalid');
      expect(await codes({ ...SOUND, ...change, value: 78 })).toBe('idempotency_key_reused');
      expect(await codes({ ...SOUND, ...change, value: 78, idempotencyKey: 'free' })).toBe(code);
    },
  );

  /** Red when a name of the other mode is rejected as one that never existed. */
  test('a customer or meter id of the other mode is rejected with the mode that has it', async () => {
    const [customerId, meterId] = ['cus_oooooooooooooooooooooooooo', 'meter_oooooooooooooooooooooooooo'];
    session().putInOtherMode(customerId, meterId);
    const rejections = async (events: object[]) => {
      const keyed = events.map((event, at) => ({ idempotencyKey: `k${at}`, ...event }));
      return (await session().batch(keyed)).json.results.map(({ error }) => error);
    };
    const events = [
      { ...SOUND, customerId },
      { ...SOUND, meterId },
      { ...SOUND, customerId, meterId },
    ];
    const [customer, meter, both] = await rejections(events);
    expect(customer).toEqual({
      code: 'customer_not_found',
      message: 'No customer has this id or external id in live mode; one with it exists in test mode.',
      param: 'customerId',
    });
    expect(meter).toEqual({
      code: 'meter_not_found',
      message: 'No meter has this key or id in live mode; one with it exists in test mode.',
      param: 'meterId',
    });
    expect(both).toEqual(customer);
    // Where the other mode cannot be queried the error stays: not found.
    session().setOtherModeUnavailable();
    for (const error of await rejections(events)) expect(error?.message).not.toContain('test mode;');
    expect((await rejections(events)).map((error) => error?.code)).toEqual([
      'customer_not_found',
      'meter_not_found',
      'customer_not_found',
    ]);
  });

  test('an event at either limit of age is taken', async () => {
    for (const ms of [NOW_MS - 400 * DAY_MS, NOW_MS + 5 * MINUTE_MS]) {
      const { status, json } = await session().single({ ...SOUND, occurredAt: at(ms) }, String(ms));
      expect([status, json.occurredAt]).toEqual([201, at(ms)]);
    }
  });

  test('a customer is its id or its external id, a meter its key or its id', async () => {
    session().putMeter({ key: 'tokens', id: 'meter_tttttttttttttttttttttttttt' });
    const { json, lines } = await session().batch(
      [
        { idempotencyKey: 'a', customerId: 'acme', meterId: 'meter_tttttttttttttttttttttttttt', value: 1 },
        { idempotencyKey: 'a', customerId: SOUND.customerId, meterId: 'tokens', value: 1 },
      ],
      { includeEvents: true },
    );
    expect(json.results.map(({ status }) => status)).toEqual(['created', 'duplicate']);
    const [first, second] = json.results;
    expect(first?.event).toMatchObject({ customerId: SOUND.customerId, meterId: 'tokens' });
    expect(second?.event).toEqual(first?.event);
    expect(columnsOf(lines[0] ?? '')).toMatchObject({ customer_id: SOUND.customerId, meter_key: 'tokens' });
  });

  test('an unknown meter key becomes a meter, but not for an unknown customer', async () => {
    const rejected = await session().single({ ...SOUND, customerId: 'nobody', meterId: 'fresh' }, 'a');
    expect(rejected.json.error.code).toBe('customer_not_found');
    await session().single(SOUND, 'makes the customer known');
    session().setUnavailable(true);
    expect((await session().single({ ...SOUND, meterId: 'fresh' }, 'b')).json.error.code).toBe('unavailable');
    session().setUnavailable(false);
    const taken = await session().single({ ...SOUND, meterId: 'fresh' }, 'b');
    expect([taken.status, taken.json.meterId]).toEqual([201, 'fresh']);
  });

  test('while names cannot be queried, unknown ones are unavailable and never anything else', async () => {
    await session().single(SOUND, 'used');
    session().setUnavailable(true);
    const unknown = [
      { idempotencyKey: 'a', ...SOUND, customerId: 'new' },
      { idempotencyKey: 'b', ...SOUND, meterId: 'new' },
      { idempotencyKey: 'used', ...SOUND, meterId: 'new' },
      { idempotencyKey: 'c', ...SOUND, customerId: 'new', occurredAt: '1999-01-01T00:00:00Z' },
    ];
    const sound = { idempotencyKey: 'd', ...SOUND };
    const faulty = { idempotencyKey: 'e', ...SOUND, customerId: 'new', value: 'x' };
    const { status, json } = await session().batch([...unknown, sound, faulty]);
    expect(status).toBe(200);
    expect(json.results.map((one) => one.error?.code ?? one.status)).toEqual([
      ...unknown.map(() => 'unavailable'),
      'created',
      'invalid_request',
    ]);
    const single = await session().single({ ...SOUND, customerId: 'new' }, 'a');
    expect([single.status, single.json.error]).toEqual([
      503,
      { code: 'unavailable', message: json.results[0]?.error?.message, requestId: REQUEST_ID },
    ]);
    session().setUnavailable(false);
    session().putCustomer({ id: 'cus_nnnnnnnnnnnnnnnnnnnnnnnnnn', externalId: 'new' });
    expect((await session().single({ ...SOUND, customerId: 'new' }, 'a')).replayed).toBe(false);
  });

  // Red when it takes the key: the event sent first would be rejected forever.
  test('an item behind an unavailable one with the same key waits for it', async () => {
    session().putMeter({ key: 'tokens', id: 'meter_tttttttttttttttttttttttttt' });
    await session().single({ ...SOUND, meterId: 'tokens' }, 'makes the meter known by its key');
    const first = { idempotencyKey: 'a', ...SOUND, meterId: 'meter_tttttttttttttttttttttttttt', value: 1 };
    const items = [
      first,
      { idempotencyKey: 'b', ...SOUND, meterId: 'tokens' },
      { ...first, meterId: 'tokens', value: 2 },
    ];
    session().setUnavailable(true);
    const during = await session().batch(items);
    expect(during.json.results.map((one) => one.error?.code ?? one.status)).toEqual([
      'unavailable',
      'created',
      'unavailable',
    ]);
    session().setUnavailable(false);
    const again = await session().batch(items);
    expect(again.json.results.map((one) => one.error?.code ?? one.status)).toEqual([
      'created',
      'duplicate',
      'idempotency_key_reused',
    ]);
  });

  test('one item fails alone: the others of its batch are stored', async () => {
    prepare();
    const items = [
      { idempotencyKey: 'a', ...SOUND },
      ...STATES.map(([, change], index) => ({ idempotencyKey: `f${index}`, ...SOUND, ...change })),
      { idempotencyKey: 'b', ...SOUND },
      { idempotencyKey: 'c', ...SOUND, value: null },
    ];
    const { json, lines } = await session().batch(items);
    expect(json.summary).toEqual({ total: 9, created: 2, duplicate: 0, errors: 7 });
    expect(json.results.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const stored = lines.map((line) => columnsOf(line).id);
    expect(stored).toEqual([json.results[0]?.eventId, json.results[7]?.eventId]);
  });
}
