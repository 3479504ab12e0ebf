import { expect, it } from 'vitest';
import type { KeyCache, StoredKey } from '../../domain/api-key-cache.ts';
import { KEY_REJECTIONS } from '../../domain/rules/key-rejections.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import { Transient } from '../../schemas/failures.ts';
import { createSenderOf } from './sender-of.ts';

const environment = 'ws_1:live';
const stored = (kind: StoredKey['kind']) => ({ environment, kind }) as StoredKey;

const keys = {
  authenticate(text: string) {
    if (text === 'secret') return stored('secret');
    if (text === 'queried') return Promise.resolve(stored('secret'));
    if (text === 'publishable') return stored('publishable');
    if (text === 'unavailable') throw new Transient('keys_unavailable', 'unavailable');
    if (text === 'slow') return Promise.reject(new Transient('database_slow', 'slow'));
    return KEY_REJECTIONS.unknown;
  },
} as KeyCache;

const from = (headers: Record<string, string>) =>
  createSenderOf(() => keys)({ headers: new Map(Object.entries(headers)) } as unknown as Exchange);

/**
 * Red when a publishable key, which every visitor of a page can read, takes of the share of its environment.
 */
it('is the environment of a valid secret key, and undefined otherwise', async () => {
  expect(await from({ authorization: 'Bearer secret' })).toBe(environment);
  expect(await from({ 'x-api-key': 'queried' })).toBe(environment);
  for (const text of ['publishable', 'unknown', 'unavailable', 'slow']) {
    expect([text, await from({ 'x-api-key': text })]).toEqual([text, undefined]);
  }
  expect(await from({})).toBeUndefined();
  expect(await from({ authorization: 'Bearer secret', 'x-api-key': 'other' })).toBeUndefined();
});

it('is undefined before keys can be verified', async () => {
  const headers = new Map([['x-api-key', 'secret']]);
  expect(await createSenderOf(() => undefined)({ headers } as unknown as Exchange)).toBeUndefined();
});
