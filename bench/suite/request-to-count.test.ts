import { expect, it } from 'vitest';
import { perEvent } from './request-to-count.ts';

it('threads that take next to nothing are added up', () => {
  const micros = { main: 2_000, Query: 15, a: 4, b: 5 };
  expect(perEvent(micros, 1_000)).toEqual({ main: 2, Query: 0.015, others: 0.009 });
});
