import { expect, it } from 'vitest';
import { soughtAs } from './sought-as.ts';

it('an event id is taken for one, and all else for an idempotency key', () => {
  const id = `use_${'a'.repeat(26)}`;
  expect(soughtAs(id)).toEqual({ id });
  for (const idempotencyKey of ['req-1', `${id}b`, id.toUpperCase(), `x${id}`, 'use_1']) {
    expect(soughtAs(idempotencyKey)).toEqual({ idempotencyKey });
  }
});
