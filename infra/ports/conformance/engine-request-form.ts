import { expect, test } from 'vitest';
import type { CreateEngineHarness } from './engine-harness.ts';
import { REQUEST_ID, SOUND, sessionForEachTest } from './engine-session.ts';

const NOT_JSON: Array<[string, Buffer | string]> = [
  ['an empty body', ''],
  ['white space alone', ' \r\n\t'],
  ['a word', 'events'],
  ['a byte order mark inside', '{"events":\ufeff[]}'],
  ['two byte order marks', '\ufeff\ufeff{"events":[]}'],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d])],
  ['an overlong UTF-8 form', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['UTF-16', Buffer.from('{"events":[]}', 'utf16le')],
  ['a cut object', '{"events":['],
  ['a trailing comma', '{"events":[],}'],
  ['single quotes', "{'events':[]}"],
  ['a comment', '{"events":[]} // none'],
  ['a raw line feed in a string', '{"events":["\n"]}'],
  ['NaN', '{"events":[NaN]}'],
  ['a number with a leading zero', '{"events":[{"value":01}]}'],
  ['a number with a bare point', '{"events":[{"value":1.}]}'],
  ['a bare exponent', '{"events":[{"value":1e}]}'],
  ['a plus sign', '{"events":[{"value":+1}]}'],
  ['a hexadecimal number', '{"events":[{"value":0x10}]}'],
  ['two documents', '{"events":[]}{"events":[]}'],
  ['open brackets without end', '['.repeat(500_000)],
  ['open objects without end', '{"a":'.repeat(100_000)],
];

export function engineRequestFormTests(create: CreateEngineHarness): void {
  const session = sessionForEachTest(create);

  test.each(NOT_JSON)('%s is rejected as invalid_json', async (_, body) => {
    for (const kind of ['single', 'batch'] as const) {
      const sent = await session().send({ kind, body, idempotencyKey: 'k' });
      expect(sent.status).toBe(400);
      expect(sent.json).toEqual({
        error: { code: 'invalid_json', message: expect.any(String), requestId: REQUEST_ID },
      });
      expect(sent.commit).toBeUndefined();
    }
  });

  test('JSON that is no event, or no object with an array of events, is invalid_request', async () => {
    for (const body of ['null', 'true', '1', '"text"', '[]']) {
      expect((await session().send({ kind: 'single', body, idempotencyKey: 'k' })).json.error).toMatchObject({
        code: 'invalid_request',
      });
    }
    for (const body of ['null', '[]', '{}', '{"events":null}', '{"events":{}}', '{"events":"[]"}']) {
      const { status, json } = await session().send({ kind: 'batch', body });
      expect([status, json.error]).toMatchObject([400, { code: 'invalid_request', param: 'events' }]);
    }
  });

  test('an empty batch gets zeros', async () => {
    const zeros = { summary: { total: 0, created: 0, duplicate: 0, errors: 0 }, results: [] };
    expect((await session().batch([])).json).toEqual(zeros);
    for (const body of ['', '\n', ' \n\r\n\t\n']) {
      expect((await session().send({ kind: 'ndjson', body })).json).toEqual(zeros);
    }
  });

  test('500 events are taken, 501 are rejected and leave their keys free', async () => {
    const events = Array.from({ length: 501 }, (_, at) => ({ ...SOUND, idempotencyKey: `k${at}` }));
    const lines = events.map((event) => JSON.stringify(event)).join('\n');
    for (const request of [
      { kind: 'batch' as const, body: JSON.stringify({ events }) },
      { kind: 'ndjson' as const, body: lines },
    ]) {
      const rejected = await session().send(request);
      expect([rejected.status, rejected.json.error.code]).toEqual([413, 'batch_too_large']);
      expect(rejected.commit).toBeUndefined();
    }
    const taken = await session().batch(events.slice(0, 500));
    expect(taken.json.summary).toEqual({ total: 500, created: 500, duplicate: 0, errors: 0 });
    expect(taken.json.results.map(({ index }) => index)).toEqual(events.slice(0, 500).map((_, at) => at));
  });

  test('lines are events of one batch, whatever ends and separates them', async () => {
    const line = (key: string) => JSON.stringify({ ...SOUND, idempotencyKey: key });
    const body = `\n${line('a')}\r\n \t\n  ${line('b')}  \n\n${line('c')}`;
    const { json, lines } = await session().send({ kind: 'ndjson', body });
    expect(json.summary).toEqual({ total: 3, created: 3, duplicate: 0, errors: 0 });
    expect(json.results.map((one: { idempotencyKey: string }) => one.idempotencyKey)).toEqual([
      'a',
      'b',
      'c',
    ]);
    expect(lines).toHaveLength(3);
  });

  test('a line that is not JSON rejects all lines and is named by its number in the body', async () => {
    const sound = JSON.stringify({ ...SOUND, idempotencyKey: 'k' });
    const { status, json, commit } = await session().send({ kind: 'ndjson', body: `${sound}\n\n{oops\n` });
    expect([status, json.error.code, commit]).toEqual([400, 'invalid_json', undefined]);
    expect(json.error.message).toContain('Line 3 ');
    expect((await session().single(SOUND, 'k')).status).toBe(201);
  });

  /** Red when anything here walks the parsed tree by recursion. */
  test('a value nested 500,000 deep is an ordinary error of its item', async () => {
    const deep = `${'['.repeat(500_000)}${']'.repeat(500_000)}`;
    const { status, json } = await session().send({ kind: 'batch', body: `{"events":[${deep}]}` });
    expect([status, json.results[0].error.code]).toEqual([200, 'invalid_request']);
    for (const field of ['value', 'customerId', 'properties', 'occurredAt', 'other', 'idempotencyKey']) {
      const event = JSON.stringify({ ...SOUND, idempotencyKey: 'k' }).slice(0, -1);
      const sent = await session().send({ kind: 'batch', body: `{"events":[${event},"${field}":${deep}}]}` });
      expect([sent.status, sent.json.summary.total]).toEqual([200, 1]);
      expect(sent.json.results[0].status).toBe(field === 'other' ? 'created' : 'error');
    }
  });

  /** Red when the place is that of V8's words, of the text in UTF-16, or of a line and not of the body. */
  test('what is no JSON is named with its byte offset', async () => {
    const item = (value: string, at: number) =>
      JSON.stringify({ ...SOUND, idempotencyKey: `ü${at}`, value: 0 }).replace(':0', `:${value}`);
    const items = Array.from({ length: 500 }, (_, at) => item(at === 321 ? 'NaN' : '1', at));
    for (const [kind, body] of [
      ['batch', `{"events":[${items.join(',')}]}`],
      ['batch', `\ufeff{"events":[${items.join(',')}]}`],
      ['ndjson', items.join('\n')],
      ['ndjson', `\ufeff\r\n${items.join('\n')}`],
    ] as const) {
      const { status, json } = await session().send({ kind, body });
      const at = Buffer.from(body).indexOf('NaN');
      expect([status, json.error.code]).toEqual([400, 'invalid_json']);
      expect(json.error.message).toContain(`is not valid JSON at byte offset ${at}: unexpected \`NaN\`.`);
    }
    const latin1 = Buffer.from('{"events":[],"ä":1}', 'latin1');
    const { json } = await session().send({ kind: 'batch', body: latin1 });
    expect(json.error.message).toBe('The body is not valid UTF-8 at byte offset 14.');
  });

  test('a byte order mark in front is skipped', async () => {
    const item = (key: string) => JSON.stringify({ ...SOUND, idempotencyKey: key });
    const batch = await session().send({ kind: 'batch', body: `\ufeff{"events":[${item('a')}]}` });
    const lines = await session().send({ kind: 'ndjson', body: `\ufeff${item('b')}\n${item('c')}` });
    expect([batch.json.summary.created, lines.json.summary.created]).toEqual([1, 2]);
    const single = { kind: 'single' as const, body: `\ufeff${JSON.stringify(SOUND)}`, idempotencyKey: 'd' };
    expect([(await session().send(single)).status, (await session().send(single)).replayed]).toEqual([
      201,
      true,
    ]);
  });

  test('the error for a body of the other path names the right path', async () => {
    const event = { ...SOUND, idempotencyKey: 'k' };
    const messageOf = async (kind: 'single' | 'batch', body: unknown) => {
      const { status, json } = await session().send({ kind, body: JSON.stringify(body) });
      expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', 'events']);
      return json.error.message;
    };
    for (const body of [{ events: [event] }, { events: [] }, [event]]) {
      expect(await messageOf('single', body)).toContain('/api/v1/usage/events/batch');
    }
    expect(await messageOf('batch', event)).toContain('one event to /api/v1/usage/events.');
    expect(await messageOf('batch', { event: [event] })).toContain('Did you mean `events`?');
  });

  test('of two equal names the last one wins, and unknown fields are ignored', async () => {
    const body = `{"events":"x","more":1,"events":[{"idempotencyKey":"a","customerId":7,
      "customerId":${JSON.stringify(SOUND.customerId)},"meterId":"api_calls","value":2,"value":3,"id":"use_x",
      "__proto__":{"value":9},"constructor":{}}]}`;
    const { json } = await session().send({ kind: 'batch', body, includeEvents: true });
    expect(json.results[0]).toMatchObject({ status: 'created', event: { value: 3 } });
  });
}
