import { expect, test } from 'vitest';
import { createStuckWatch } from './stuck-watch.ts';

/*
 * Mutants that turn it red: a success is ignored; the number of failures is ignored; each failure is
 * reported.
 */
function watched() {
  const causes: unknown[] = [];
  let nowMs = 0;
  const { watch } = createStuckWatch({
    afterMs: 1_000,
    onStuck: (cause) => void causes.push(cause),
    nowMs: () => nowMs,
  });
  const broken = new Error('no');
  return {
    causes,
    broken,
    async fail(tookMs: number) {
      const tried = watch(async () => {
        nowMs += tookMs;
        throw broken;
      });
      await expect(tried).rejects.toBe(broken);
    },
    succeed: () => watch(async () => 'done'),
  };
}

test('an engine that only fails for so long is reported, once, with the cause', async () => {
  const { causes, broken, fail } = watched();
  for (let tries = 0; tries < 9; tries++) await fail(100);
  expect(causes).toEqual([]);
  for (let tries = 0; tries < 9; tries++) await fail(100);
  expect(causes).toEqual([broken]);
});

test('one success resets it', async () => {
  const { causes, fail, succeed } = watched();
  for (let round = 0; round < 5; round++) {
    for (let tries = 0; tries < 9; tries++) await fail(100);
    expect(await succeed()).toBe('done');
  }
  expect(causes).toEqual([]);
});

test('two long tries are not enough', async () => {
  const { causes, fail } = watched();
  await fail(60_000);
  await fail(60_000);
  expect(causes).toEqual([]);
  await fail(1);
  expect(causes).toHaveLength(1);
});

// Red when it is counted: a process with a permanent rejection is restarted each minute, and rejects again.
test('what a new process would meet again is no reason to end this one', async () => {
  const causes: unknown[] = [];
  let nowMs = 0;
  const onStuck = (cause: unknown) => void causes.push(cause);
  const { watch } = createStuckWatch({ afterMs: 1, onStuck, isLasting: () => true, nowMs: () => nowMs });
  for (let tries = 0; tries < 9; tries++) {
    nowMs += 1_000;
    await expect(watch(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  }
  expect(causes).toEqual([]);
});
