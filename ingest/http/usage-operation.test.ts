import { expect, test } from 'vitest';
import type { Exchange } from '../../infra/ports/http-front.ts';
import { readUsageHead, usageOperation } from './usage-operation.ts';

interface Head {
  method?: string;
  path?: string;
  query?: string;
  headers?: Record<string, string>;
}

function exchangeOf({ method = 'POST', path = '', query = '', headers = {} }: Head): Exchange {
  // Nothing else of a request is read for its head.
  return { method, path, query, headers: new Map(Object.entries(headers)) } as unknown as Exchange;
}

const headOf = (head: Head, operation: 'single' | 'batch' = 'batch') =>
  readUsageHead(exchangeOf(head), operation);

test('two paths are usage operations, by POST alone; all else is the control plane’s', () => {
  const operation = (path: string, method = 'POST') => usageOperation(exchangeOf({ path, method }));
  expect(operation('/api/v1/usage/events')).toBe('single');
  expect(operation('/api/v1/usage/events/batch')).toBe('batch');
  expect(operation('/api/v1/usage/events/')).toBe('single');
  expect(operation('/api/v1/usage/events/batch/')).toBe('batch');
  expect(operation('/api/v1/usage/events', 'GET')).toBeUndefined();
  for (const path of [
    '',
    '/',
    '/api/v1/usage',
    '/api/v2/usage/events',
    '/api/v1/usage/events//',
    '/usage/events',
  ]) {
    expect(operation(path)).toBeUndefined();
  }
});

test('JSON is one event or a batch of them; lines are a batch alone', () => {
  const kind = (contentType: string | undefined, operation: 'single' | 'batch') => {
    const headers = contentType === undefined ? {} : { 'content-type': contentType };
    const head = headOf({ headers }, operation);
    return 'code' in head ? head.code : head.kind;
  };
  for (const type of [
    undefined,
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json ;a=b',
  ]) {
    expect([kind(type, 'single'), kind(type, 'batch')]).toEqual(['single', 'batch']);
  }
  expect(kind('application/x-ndjson', 'batch')).toBe('ndjson');
  expect(kind('application/x-ndjson', 'single')).toBe('unsupported_media_type');
  for (const type of ['', 'text/plain', 'application/jsonl', 'application/xml', 'multipart/form-data']) {
    expect(kind(type, 'batch')).toBe('unsupported_media_type');
  }
});

test('a body is plain or gzip', () => {
  const encoded = (encoding: string) => {
    const head = headOf({ headers: { 'content-encoding': encoding } });
    return 'code' in head ? head.code : head.gzip;
  };
  expect([encoded('gzip'), encoded(' GZIP '), encoded('identity')]).toEqual([true, true, false]);
  for (const encoding of ['br', 'deflate', 'zstd', 'gzip, gzip', 'x', '']) {
    expect(encoded(encoding)).toBe('unsupported_media_type');
  }
  expect(headOf({})).toMatchObject({ gzip: false });
});

test('include takes the one value `events`, and counts for batches alone', () => {
  const include = (query: string, operation: 'single' | 'batch' = 'batch') => {
    const head = headOf({ query }, operation);
    return 'code' in head ? [head.code, head.param] : head.includeEvents;
  };
  expect([include(''), include('include=events'), include('utm_source=x&include=events')]).toEqual([
    false,
    true,
    true,
  ]);
  for (const query of ['include', 'include=', 'include=Events', 'include=all', 'include=events,more']) {
    expect(include(query)).toEqual(['invalid_request', 'include']);
  }
});

/** Red when the first one is taken: it is unknown which one the client means. */
test('a query parameter that comes twice is rejected, as the control plane rejects it', () => {
  for (const query of [
    'include=events&include=events',
    'include=events&include=',
    'include&include=events',
  ]) {
    expect(headOf({ query }, 'batch')).toEqual({
      code: 'invalid_request',
      message: 'The query parameter `include` is repeated. Send it once.',
      param: 'include',
    });
  }
  expect(headOf({ query: 'utm_x=1&utm_x=2&include=events' }, 'batch')).toMatchObject({ includeEvents: true });
});

/** Red when a misspelt parameter is ignored: its client waits for events that no response shows. */
test('an unknown query parameter is rejected, and the message lists those that are', () => {
  const rejection = (query: string, operation: 'single' | 'batch') => headOf({ query }, operation);
  expect(rejection('includes=events', 'batch')).toEqual({
    code: 'invalid_request',
    message:
      'Unknown query parameter `includes`; this operation has `include`, `backfillId`. ' +
      'Did you mean `include`?',
    param: 'includes',
  });
  expect(rejection('include=events', 'single')).toMatchObject({
    message: 'Unknown query parameter `include`; this operation has `backfillId`.',
  });
  expect(rejection('include=events&from=x', 'batch')).toMatchObject({ param: 'from' });
  expect(rejection(`%00${'n'.repeat(200)}=1`, 'single')).toMatchObject({ param: `\ufffd${'n'.repeat(63)}` });
});

test('the session of a backfill is named by single events and batches', () => {
  expect(headOf({ query: 'backfillId=bkf_a' }, 'single')).toMatchObject({ backfillId: 'bkf_a' });
  const both = headOf({ query: 'include=events&backfillId=bkf_a' });
  expect(both).toMatchObject({ backfillId: 'bkf_a', includeEvents: true });
  expect(headOf({ query: 'include=events' })).toMatchObject({ backfillId: undefined });
  expect(headOf({ query: 'backfillId=a&backfillId=b' })).toMatchObject({ param: 'backfillId' });
});

test('preferences are read from the head', () => {
  const prefer = (value: string) => headOf({ headers: { prefer: value } }, 'single');
  expect(prefer('numbers=text')).toMatchObject({ isStrict: false, numbersAsText: true });
  expect(prefer('handling=strict, numbers=text')).toMatchObject({ isStrict: true, numbersAsText: true });
});

test('the key is taken from the head, and a length that cannot fit is rejected there', () => {
  const headers = { 'idempotency-key': 'order-1', 'content-length': String(2 ** 20) };
  expect(headOf({ headers }, 'single')).toMatchObject({ idempotencyKey: 'order-1' });
  expect(headOf({}, 'single')).toMatchObject({ kind: 'single', includeEvents: false, gzip: false });
  const tooLong = { 'content-length': String(2 ** 20 + 1) };
  expect(headOf({ headers: tooLong }, 'single')).toMatchObject({ code: 'payload_too_large' });
});

/** Red when such a key is taken: one front trims what the other keeps, and two keys become one. */
test('a batch, whose items have keys of their own, needs none in the header', () => {
  expect(headOf({ headers: { 'idempotency-key': 'ä' } }, 'batch')).toMatchObject({ kind: 'batch' });
});

test('a key in the header that is not visible ASCII is rejected', () => {
  for (const key of ['a\u00e9b', '\u65e5', 'a\u0080', 'one\nand another']) {
    const rejection = { code: 'idempotency_key_invalid', param: 'Idempotency-Key' };
    expect(headOf({ headers: { 'idempotency-key': key } }, 'single')).toMatchObject(rejection);
  }
});
