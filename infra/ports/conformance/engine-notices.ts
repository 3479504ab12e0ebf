import { expect, test } from 'vitest';
import type { CreateEngineHarness } from './engine-harness.ts';
import { type Sent, SOUND, sessionForEachTest } from './engine-session.ts';

/** Misspelt members and rejected items, for clients that read the head of a response alone. */
export function engineNoticeTests(create: CreateEngineHarness): void {
  const session = sessionForEachTest(create);

  /** Each kind of request with one event; the key is taken out of a single one's. */
  async function inEachKind(event: object, key?: string, isStrict = false): Promise<Sent[]> {
    const item = JSON.stringify({ ...event, idempotencyKey: key });
    return [
      await session().send({ kind: 'single', body: JSON.stringify(event), idempotencyKey: key, isStrict }),
      await session().send({ kind: 'batch', body: `{"events":[${item}]}`, isStrict }),
      await session().send({ kind: 'ndjson', body: item, isStrict }),
    ];
  }

  test('unknown members are named, whether the event is created, a duplicate or rejected', async () => {
    const misspelt = { ...SOUND, occuredAt: '2026-11-20T00:00:00Z', 'más, o menos': 1 };
    for (const { status, ignored } of await inEachKind(misspelt, 'k')) {
      expect([status < 300, ignored]).toEqual([true, ['occuredAt', 'más, o menos']]);
    }
    const { ignored } = await session().batch([{ customer_id: 'acme', meterId: 'api_calls', value: 1 }]);
    expect(ignored).toEqual(['customer_id']);
  });

  test('sound events have no notices, and the key of a single event may be in its body', async () => {
    const sound = { ...SOUND, occurredAt: '2026-11-20T00:00:00Z', properties: { more: 1 } };
    for (const { ignored = [], itemErrors = 0 } of await inEachKind(sound, 'k')) {
      expect([ignored, itemErrors]).toEqual([[], 0]);
    }
    const { ignored = [] } = await session().single({ ...SOUND, idempotencyKey: 'l' }, 'l');
    expect(ignored).toEqual([]);
  });

  test('ten distinct names are enough, those next to `events` first', async () => {
    const events = Array.from({ length: 30 }, (_, at) => ({
      ...SOUND,
      idempotencyKey: `${at}`,
      [`f${at >> 1}`]: 1,
    }));
    const { ignored } = await session().send({ kind: 'batch', body: JSON.stringify({ also: 1, events }) });
    expect(ignored).toEqual(['also', ...Array.from({ length: 9 }, (_, at) => `f${at}`)]);
  });

  /** Red when a misspelt field is silently lost for a client that requested strict handling. */
  test('with handling=strict an unknown member is an error of its item, which is not stored', async () => {
    const sent = await inEachKind({ ...SOUND, occuredAt: '2026-11-20T00:00:00Z' }, 'k', true);
    const message = 'The field `occuredAt` is not known. Did you mean `occurredAt`?';
    const error = { code: 'invalid_request', message, param: 'occuredAt' };
    expect(sent.map(({ status }) => status)).toEqual([400, 200, 200]);
    expect(sent.map(({ json }) => json.error ?? json.results[0].error)).toEqual([
      expect.objectContaining(error),
      error,
      error,
    ]);
    for (const { commit } of sent) expect(commit).toBeUndefined();
    const taken = await inEachKind(SOUND, 'k', true);
    expect(taken.map(({ status, replayed }) => [status, replayed])).toEqual([
      [201, false],
      [200, false],
      [200, false],
    ]);
  });

  test('with handling=strict an unknown member next to `events` rejects the batch', async () => {
    const body = JSON.stringify({ events: [{ ...SOUND, idempotencyKey: 'k' }], evnts: [] });
    const { status, json, commit } = await session().send({ kind: 'batch', body, isStrict: true });
    expect([status, json.error, commit]).toMatchObject([
      400,
      { code: 'invalid_request', param: 'evnts' },
      undefined,
    ]);
  });

  test('rejected items are counted, also where only a used key is rejected', async () => {
    const item = (key: string, more = {}) => ({ ...SOUND, idempotencyKey: key, ...more });
    const mixed = await session().batch([item('a'), item(''), item('b', { value: 'x' }), item('a')]);
    expect([mixed.itemErrors, mixed.json.summary.errors]).toEqual([2, 2]);
    const reused = await session().batch([item('a', { value: 2 }), item('c')]);
    expect([reused.itemErrors, reused.json.summary.errors]).toEqual([1, 1]);
    expect(reused.json.results[0]?.error).toMatchObject({
      code: 'idempotency_key_reused',
      param: 'idempotencyKey',
    });
  });

  /** Red when the head is that of the rejection alone: a batch names them. */
  test('unknown members are named for whatever reason the event is rejected', async () => {
    const used = { ...SOUND, value: 77 };
    await session().single(used, 'used');
    const rejected: Array<[change: object, key: string]> = [
      [{ value: 'x' }, 'k'],
      [{ customerId: 'nobody' }, 'k'],
      [{ occurredAt: '1999-01-01T00:00:00Z' }, 'k'],
      [{ value: 78 }, 'used'],
      [{}, ''],
    ];
    for (const [change, key] of rejected) {
      for (const isStrict of [false, true]) {
        for (const { json, ignored } of await inEachKind({ ...SOUND, more: 1, ...change }, key, isStrict)) {
          expect(json.error ?? json.results[0].error).toBeDefined();
          expect(ignored).toEqual(['more']);
        }
      }
    }
  });

  test.each([false, true])(
    'a key under a misspelt name is required by its name, strict: %s',
    async (isStrict) => {
      for (const name of ['idempotency_key', 'IdempotencyKey', 'idempotencykey', 'idempotncyKey']) {
        for (const { json } of await inEachKind({ ...SOUND, [name]: 'k' }, undefined, isStrict)) {
          const error = json.error ?? json.results[0].error;
          expect(error).toMatchObject({ code: 'idempotency_key_missing', param: 'idempotencyKey' });
          expect(error.message).toContain(
            ` The field \`${name}\` is not known. Did you mean \`idempotencyKey\`?`,
          );
        }
      }
    },
  );

  test.each([
    ['customer_id', { customer_id: 'acme', meterId: 'api_calls', value: 1 }, 'customerId'],
    ['MeterID', { customerId: 'acme', MeterID: 'api_calls', value: 1 }, 'meterId'],
    ['vlaue', { customerId: 'acme', meterId: 'api_calls', vlaue: 1 }, 'value'],
    ['customer_id', { customerId: null, customer_id: 'acme', meterId: 'api_calls', value: 1 }, 'customerId'],
    ['usage_value', { customerId: 'acme', meterId: 'api_calls', usage_value: 1 }, 'value'],
  ])('a missing member that was sent as %s is required by its name', async (sent, event, param) => {
    for (const { json } of await inEachKind(event, 'k')) {
      const error = json.error ?? json.results[0].error;
      expect(error).toMatchObject({ code: 'invalid_request', param });
      expect(error.message).toContain(`The field \`${sent}\` is not known. Did you mean \`${param}\`?`);
    }
  });
}
