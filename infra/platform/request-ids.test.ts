import { expect, it } from 'vitest';
import { createRequestIds } from './request-ids.ts';

it('makes ids of the common shape that never repeat', () => {
  const requestIds = [createRequestIds(), createRequestIds()];
  const made = requestIds.flatMap((next) => Array.from({ length: 40_000 }, () => next(undefined)));
  for (const id of made) expect(id).toMatch(/^req_[a-z2-7]{26}$/);
  expect(new Set(made).size).toBe(made.length);
});

it('takes over only what is visible ASCII of at most 128 characters', () => {
  const requestId = createRequestIds();
  for (const taken of ['a', '~'.repeat(128)]) expect(requestId(taken)).toBe(taken);
  for (const rejected of ['', ' ', 'a b', 'ä', 'a\n', 'a'.repeat(129)])
    expect(requestId(rejected)).toMatch(/^req_/);
});

// Red when it is taken over: responses and log lines would repeat a key that was mistaken for an id.
it('takes over nothing that looks like a key or a secret, encoded or not', () => {
  const requestId = createRequestIds();
  for (const secret of [
    'sk_live_abcDEF123',
    'x-pk_test_9',
    'whsec_a+b/c=',
    'sk%5Flive%5Fabc',
    'sk%255flive_a',
  ])
    expect(requestId(secret)).toMatch(/^req_/);
  for (const taken of ['task_live', 'risk-1', '50%', 'sk_1']) expect(requestId(taken)).toBe(taken);
});
