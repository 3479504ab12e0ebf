import { expect, test } from 'vitest';
import type { CreateEngineHarness } from './engine-harness.ts';
import { CUSTOMER, ENVIRONMENT, kept, NOW_MS, SOUND, sessionForEachTest } from './engine-session.ts';

const DAY_MS = 86_400_000;
const FIRST = {
  customerId: 'acme',
  meterId: 'api_calls',
  value: 2.5,
  occurredAt: '2026-11-20T10:00:00.123Z',
  properties: { model: 'large', size: 1, cached: false },
};

/** Each makes another event of FIRST. */
const OTHERS: Array<[string, Record<string, unknown>]> = [
  ['customer', { customerId: 'cus_bbbbbbbbbbbbbbbbbbbbbbbbbb' }],
  ['meter', { meterId: 'tokens' }],
  ['value', { value: 2.500000000001 }],
  ['sign', { value: -2.5 }],
  ['property', { properties: { ...FIRST.properties, model: 'small' } }],
  ['property name', { properties: { Model: 'large', size: 1, cached: false } }],
  ['property type', { properties: { ...FIRST.properties, size: '1' } }],
  ['boolean for its word', { properties: { ...FIRST.properties, cached: 'false' } }],
  ['missing property', { properties: { model: 'large', size: 1 } }],
  ['further property', { properties: { ...FIRST.properties, more: '' } }],
  ['no properties', { properties: undefined }],
  ['swapped properties', { properties: { model: 1, size: 'large', cached: false } }],
  ['customer that does not exist', { customerId: 'nobody' }],
];

export function engineReplayTests(create: CreateEngineHarness): void {
  const session = sessionForEachTest(create);
  const keyed = (event: object, idempotencyKey = 'k') => ({ ...event, idempotencyKey });

  /** Red when ids are random, or times are taken from the replay. */
  test('a replay is the first event again, byte for byte, on every path', async () => {
    const first = await session().single(FIRST, 'k');
    expect([first.status, first.replayed]).toEqual([201, false]);
    session().setNow(NOW_MS + 5_000);
    const again = { ...FIRST, customerId: CUSTOMER, occurredAt: '2026-11-21T00:00:00Z' };
    const { cached, model, size } = FIRST.properties;
    const turned = { ...FIRST, occurredAt: undefined, properties: { cached, size, model } };
    for (const event of [FIRST, again, turned]) {
      const replay = await session().single(event, 'k');
      expect([replay.status, replay.replayed, replay.body.toString()]).toEqual([
        201,
        true,
        first.body.toString(),
      ]);
      expect(replay.commit).toBeUndefined();
      const { json, commit } = await session().batch([keyed(event)], { includeEvents: true });
      expect(commit).toBeUndefined();
      expect(json).toEqual({
        summary: { total: 1, created: 0, duplicate: 1, errors: 0 },
        results: [
          { index: 0, idempotencyKey: 'k', status: 'duplicate', eventId: first.json.id, event: first.json },
        ],
      });
    }
  });

  test('a batch names its events only on request', async () => {
    const { json } = await session().batch([keyed(SOUND)]);
    expect(json.results[0]).toEqual({
      index: 0,
      idempotencyKey: 'k',
      status: 'created',
      eventId: expect.stringMatching(/^use_[a-z2-7]{26}$/),
    });
    const { json: shown } = await session().batch([keyed(FIRST, 'l')], { includeEvents: true });
    expect(shown.results[0]?.event).toEqual({
      ...FIRST,
      ...{ id: shown.results[0]?.eventId, customerId: CUSTOMER, eventName: 'usage.recorded' },
      ...{ status: 'recorded', createdAt: new Date(NOW_MS).toISOString() },
    });
  });

  test.each(OTHERS)('the same key for another %s is rejected, and nothing is stored', async (_, change) => {
    session().putCustomer({ id: 'cus_bbbbbbbbbbbbbbbbbbbbbbbbbb' });
    session().putMeter({ key: 'tokens' });
    const first = await session().single(FIRST, 'k');
    const other = { ...FIRST, ...change };
    const single = await session().single(other, 'k');
    expect([single.status, single.commit]).toEqual([422, undefined]);
    expect(single.json.error).toMatchObject({ code: 'idempotency_key_reused', param: 'idempotencyKey' });
    const { json, commit } = await session().batch([keyed(other)], { includeEvents: true });
    const { code, message, param } = single.json.error;
    expect(commit).toBeUndefined();
    expect(json.results).toEqual([
      { index: 0, idempotencyKey: 'k', status: 'error', error: { code, message, param } },
    ]);
    expect((await session().single(FIRST, 'k')).body).toEqual(first.body);
  });

  /** Red when the keys of a request are claimed one by one with a wait between, or only at its end. */
  test('a key twice in one batch is created once, then a duplicate, or reused', async () => {
    const items = [keyed(FIRST), keyed({ ...FIRST, occurredAt: undefined }), keyed({ ...FIRST, value: 3 })];
    const { json, lines } = await session().batch(items, { includeEvents: true });
    expect(json.summary).toEqual({ total: 3, created: 1, duplicate: 1, errors: 1 });
    const [first, second, third] = json.results;
    expect([first?.status, second?.status]).toEqual(['created', 'duplicate']);
    expect([second?.eventId, second?.event]).toEqual([first?.eventId, first?.event]);
    expect(third).toMatchObject({ status: 'error', error: { code: 'idempotency_key_reused' } });
    expect(lines).toHaveLength(1);
  });

  test('of two requests that race, one creates and the other waits for its commit', async () => {
    const { engine, commit } = session();
    const request = {
      environment: ENVIRONMENT,
      kind: 'single' as const,
      body: Buffer.from(JSON.stringify(FIRST)),
      idempotencyKey: 'k',
      includeEvents: false,
      requestId: 'r',
    };
    const readings = [await engine.read(request), await engine.read(request)];
    const [one, two] = readings.map((reading) => kept(engine.decide(reading)));
    expect([one?.response.replayed, two?.response.replayed]).toEqual([false, true]);
    expect([one?.commit?.eventCount, two?.commit?.eventCount]).toEqual([1, 0]);
    expect(two?.commit?.lines).toHaveLength(0);
    expect(two?.response.body).toEqual(one?.response.body);
    for (const decision of [one, two]) if (decision?.commit) await commit(decision.commit);
  });

  test('the same key in another environment is another event', async () => {
    const send = (environment: string) =>
      session().send({ environment, kind: 'single', body: JSON.stringify(FIRST), idempotencyKey: 'k' });
    const live = await send(ENVIRONMENT);
    const test = await send(ENVIRONMENT.replace('live', 'test'));
    const liveAgain = await send(ENVIRONMENT);
    expect([live.replayed, test.replayed, liveAgain.replayed]).toEqual([false, false, true]);
    expect(test.json.id).not.toBe(live.json.id);
    expect(liveAgain.json.id).toBe(live.json.id);
  });

  test('keys are compared as they are: no case, space or normal form is evened out', async () => {
    const keys = ['a', 'A', 'a ', ' a', 'ä', 'a\u0308', '\u{1f600}', 'k'.repeat(255), 'k'.repeat(254)];
    const { json } = await session().batch(keys.map((key) => keyed(SOUND, key)));
    expect(json.summary.created).toBe(keys.length);
    expect(new Set(json.results.map(({ eventId }) => eventId)).size).toBe(keys.length);
    expect(json.results.map(({ idempotencyKey }) => idempotencyKey)).toEqual(keys);
  });

  test('an event that is archived, renamed or too old by now is still a duplicate', async () => {
    const first = await session().single(FIRST, 'k');
    session().putCustomer({ id: CUSTOMER, externalId: 'acme', archived: true });
    session().putMeter({ key: 'api_calls', archived: true });
    session().setNow(NOW_MS + 500 * DAY_MS);
    const replay = await session().single(FIRST, 'k');
    expect([replay.replayed, replay.body]).toEqual([true, first.body]);
    const { json } = await session().batch([keyed(FIRST), keyed({ ...FIRST, value: 9 }), keyed(FIRST, 'l')]);
    expect(json.results.map(({ status, error }) => error?.code ?? status)).toEqual([
      'duplicate',
      'idempotency_key_reused',
      'customer_archived',
    ]);
  });
}
