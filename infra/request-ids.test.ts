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
  for (const refused of ['', ' ', 'a b', 'ä', 'a\n', 'a'.repeat(129)])
    expect(requestId(refused)).toMatch(/^req_/);
});
