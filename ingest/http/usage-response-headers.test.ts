import { expect, test } from 'vitest';
import type { Response, UsageRequest } from '../../infra/ports/engine.ts';
import { usageResponseHeaders } from './usage-response-headers.ts';

const headersOf = (response: Partial<Response>, request: Partial<UsageRequest> = {}) =>
  usageResponseHeaders(
    { status: 200, replayed: false, body: Buffer.alloc(0), ...response },
    request as UsageRequest,
  );

test('a response with no notices besides its body has only its type', () => {
  for (const response of [{}, { ignored: [], itemErrors: 0 }]) {
    expect(headersOf(response)).toEqual({ 'content-type': 'application/json' });
  }
  expect(headersOf({ status: 201, replayed: true })).toMatchObject({ 'idempotent-replayed': 'true' });
  expect(headersOf({ status: 503 })).toMatchObject({ 'retry-after': '1' });
});

test('rejected items and ignored members are in the head, by names that no header line ends at', () => {
  const ignored = ['occuredAt', 'a,b', 'ü\r\nset-cookie: x', `${'n'.repeat(64)}more`, ''];
  expect(headersOf({ itemErrors: 3, ignored })).toEqual({
    'content-type': 'application/json',
    'x-item-errors': '3',
    'x-ignored-fields': `occuredAt, a%2Cb, %C3%BC%0D%0Aset-cookie:%20x, ${'n'.repeat(64)}, `,
  });
});

test('preferences that were applied are named, all in one header', () => {
  expect(headersOf({}, { isStrict: true, numbersAsText: true })).toMatchObject({
    'preference-applied': 'handling=strict, numbers=text',
  });
  expect(headersOf({ replayed: true, status: 201 }, { numbersAsText: true })).toEqual({
    'content-type': 'application/json',
    'idempotent-replayed': 'true',
    'preference-applied': 'numbers=text',
  });
});
