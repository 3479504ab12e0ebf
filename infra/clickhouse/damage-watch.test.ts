import { expect, test, vi } from 'vitest';
import { createDamageWatch } from './damage-watch.ts';

/*
 * Breaks that turn it red: the code not looked at; the age not looked at; each failure told; each failure
 * mended by itself.
 */
const DAMAGE = Object.assign(new Error('Empty marks file'), { code: '246' });
const OTHER = Object.assign(new Error('not enough space'), { code: '243' });

function watched(setAside: () => Promise<number>) {
  const causes: unknown[] = [];
  let nowMs = 1_000;
  const { lookAt } = createDamageWatch({
    setAside,
    onDamage: (cause) => void causes.push(cause),
    nowMs: () => nowMs,
  });
  const meet = async (failure: unknown) => {
    lookAt(failure);
    await vi.waitFor(() => undefined);
  };
  return { causes, lookAt, meet, pass: (ms: number) => (nowMs += ms) };
}

test('a damaged part is set aside at once, and nothing is told', async () => {
  const setAside = vi.fn(async () => 1);
  const { causes, meet, pass } = watched(setAside);
  await meet(OTHER);
  await meet(undefined);
  expect(setAside).not.toHaveBeenCalled();
  await meet(DAMAGE);
  expect(setAside).toHaveBeenCalledOnce();
  pass(20_000);
  await meet(DAMAGE);
  expect(setAside).toHaveBeenCalledTimes(2);
  expect(causes).toEqual([]);
});

test('however many statements meet it, one sets it aside at a time', async () => {
  let end = (_: number): void => undefined;
  const setAside = vi.fn(() => new Promise<number>((resolve) => (end = resolve)));
  const { lookAt, meet, pass } = watched(setAside);
  lookAt(DAMAGE);
  pass(60_000);
  lookAt(DAMAGE);
  expect(setAside).toHaveBeenCalledOnce();
  end(1);
  await meet(undefined);
  await meet(DAMAGE);
  expect(setAside).toHaveBeenCalledOnce();
  pass(10_000);
  await meet(DAMAGE);
  expect(setAside).toHaveBeenCalledTimes(2);
});

test.each([
  ['finds none', async () => 0],
  ['fails itself', () => Promise.reject(OTHER)],
])('where setting aside %s it is told once, by a process that has lived', async (_, setAside) => {
  const { causes, meet, pass } = watched(setAside);
  await meet(DAMAGE);
  expect(causes).toEqual([]);
  pass(15_000);
  await meet(DAMAGE);
  pass(15_000);
  await meet(DAMAGE);
  expect(causes).toEqual([DAMAGE]);
});
