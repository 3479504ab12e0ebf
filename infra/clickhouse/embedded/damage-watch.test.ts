import { expect, test } from 'vitest';
import { createDamageWatch } from './damage-watch.ts';

/* Mutants that turn it red: the code is not checked; the age is not checked; each failure is reported. */
const DAMAGE = Object.assign(new Error('Empty marks file'), { code: '246' });
const OTHER = Object.assign(new Error('not enough space'), { code: '243' });

function watched() {
  const causes: unknown[] = [];
  let nowMs = 1_000;
  const { lookAt } = createDamageWatch({
    onDamage: (cause) => void causes.push(cause),
    nowMs: () => nowMs,
  });
  return { causes, lookAt, pass: (ms: number) => (nowMs += ms) };
}

test('a damaged part is reported once', () => {
  const { causes, lookAt, pass } = watched();
  pass(15_000);
  lookAt(OTHER);
  lookAt(undefined);
  expect(causes).toEqual([]);
  lookAt(DAMAGE);
  lookAt(DAMAGE);
  expect(causes).toEqual([DAMAGE]);
});

test('a process that has just started is left alone: its own start did not help either', () => {
  const { causes, lookAt, pass } = watched();
  pass(14_999);
  lookAt(DAMAGE);
  expect(causes).toEqual([]);
  pass(1);
  lookAt(DAMAGE);
  expect(causes).toEqual([DAMAGE]);
});
