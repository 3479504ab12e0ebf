import { expect, test } from 'vitest';
import type { KeyCache, StoredKey } from '../../domain/api-key-cache.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { createAuthoriseUsage } from './authorise.ts';

const KEY: StoredKey = {
  id: 'key_a',
  environment: 'ws_a:live',
  kind: 'secret',
  scopes: ['usage:write'],
  expiresAtMs: undefined,
  revoked: false,
};
const UNKNOWN: Rejection = { code: 'unauthenticated', message: 'unknown' };

/** Returns at once for `good`, as from the cache, and later for `late`, as from Postgres. */
function cacheOf(key: StoredKey): KeyCache {
  return {
    authenticate: (text) => {
      if (text === 'late') return Promise.resolve(key);
      return text === 'good' ? key : UNKNOWN;
    },
    known: () => undefined,
    forget: () => undefined,
    clear: () => undefined,
  };
}

async function authorise(headers: Record<string, string>, key = KEY): Promise<string> {
  // Nothing else of a request is read.
  const exchange = { headers: new Map(Object.entries(headers)) } as unknown as Exchange;
  const notified = await createAuthoriseUsage(cacheOf(key))(exchange);
  return 'code' in notified ? notified.code : notified.environment;
}

test.each([
  { authorization: 'Bearer good' },
  { authorization: 'bearer good' },
  { authorization: 'BEARER   good  ' },
  { authorization: 'Bearer late' },
  { 'x-api-key': 'good' },
  { 'x-api-key': ' good ' },
  { authorization: 'Bearer good', 'x-api-key': 'good' },
])('%j authenticates the caller', async (headers) => {
  expect(await authorise(headers)).toBe('ws_a:live');
});

test.each([
  {},
  { authorization: '' },
  { authorization: 'good' },
  { authorization: 'Bearer' },
  { authorization: 'Bearer ' },
  { authorization: 'Basic good' },
  { authorization: 'Bearer good more' },
  { authorization: 'Bearer good, Bearer good' },
  { authorization: 'Basic x', 'x-api-key': 'good' },
  { authorization: 'Bearer other' },
  { 'x-api-key': '' },
  { 'x-api-key': 'other' },
  { authorization: 'Bearer good', 'x-api-key': 'other' },
  { authorization: 'Bearer other', 'x-api-key': 'good' },
])('%j is unauthenticated', async (headers) => {
  expect(await authorise(headers)).toBe('unauthenticated');
});

test('the result is there at once for a cached key', () => {
  const exchange = { headers: new Map([['x-api-key', 'good']]) } as unknown as Exchange;
  expect(createAuthoriseUsage(cacheOf(KEY))(exchange)).toBe(KEY);
});

// Red when a header that was read before stands for its outcome, or hides the other header.
test('a header that is known is authenticated again each time, and compared with X-API-Key', () => {
  let found: StoredKey | Rejection = KEY;
  const authoriseAgain = createAuthoriseUsage({ ...cacheOf(KEY), authenticate: () => found });
  const send = (headers: Record<string, string>) =>
    authoriseAgain({ headers: new Map(Object.entries(headers)) } as unknown as Exchange);
  const authorization = 'Bearer good';
  expect([send({ authorization }), send({ authorization })]).toEqual([KEY, KEY]);
  expect(send({ authorization, 'x-api-key': 'other' })).toMatchObject({ code: 'unauthenticated' });
  found = UNKNOWN;
  expect(send({ authorization })).toBe(UNKNOWN);
});

/** Red when the scope is not checked, or is compared by its beginning. */
test('a secret key needs the scope usage:write, or the star', async () => {
  const withScopes = (...scopes: string[]) => authorise({ 'x-api-key': 'late' }, { ...KEY, scopes });
  expect(await withScopes('plans:read', 'usage:write')).toBe('ws_a:live');
  expect(await withScopes('*')).toBe('ws_a:live');
  for (const scopes of [[], ['usage:read'], ['usage'], ['usage:write:all'], ['usage:*'], ['USAGE:WRITE']]) {
    expect(await withScopes(...scopes)).toBe('insufficient_scope');
  }
});

test('a publishable key is rejected for its kind, whatever its scopes', async () => {
  const key: StoredKey = { ...KEY, kind: 'publishable', scopes: ['*'] };
  expect(await authorise({ 'x-api-key': 'good' }, key)).toBe('publishable_key_not_allowed');
  expect(await authorise({ authorization: 'Bearer ct_live_x.y' })).toBe('customer_token_not_allowed');
});
