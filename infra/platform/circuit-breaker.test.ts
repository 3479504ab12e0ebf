import { setTimeout as pass } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { Transient } from '../../schemas/failures.ts';
import { deferred } from '../../tests/support/deferred.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';

const UNAVAILABLE = new Transient('database_unavailable', 'Postgres is unavailable.');

function createBench() {
  let nowMs = 0;
  const guarded = createCircuitBreaker({ monotonicMs: () => nowMs }, 10);
  return {
    guarded,
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

const never = () => new Promise<string>(() => undefined);

/** Red when the race with the clock is taken out. */
test('a query that hangs is given up, and no other caller waits for it', async () => {
  const { guarded } = createBench();
  const outcome = await Promise.race([guarded(never).catch((error: Transient) => error.code), pass(1_000)]);
  expect(outcome).toBe('database_slow');
  const call = vi.fn(never);
  await expect(guarded(call)).rejects.toMatchObject({ code: 'database_slow' });
  expect(call).not.toHaveBeenCalled();
});

test('after a failure one query a second is tried, and the first success closes the circuit', async () => {
  const { guarded, wait } = createBench();
  await expect(guarded(() => Promise.reject(UNAVAILABLE))).rejects.toBe(UNAVAILABLE);
  await expect(guarded(async () => 'found')).rejects.toBe(UNAVAILABLE);
  wait(1_000);
  const query = deferred<string>();
  const trying = guarded(() => query.promise);
  await expect(guarded(async () => 'found')).rejects.toBe(UNAVAILABLE);
  query.resolve('back');
  expect(await trying).toBe('back');
  expect(await guarded(async () => 'found')).toBe('found');
});

test('a programming error opens no circuit', async () => {
  const { guarded } = createBench();
  await expect(guarded(() => Promise.reject(new TypeError('no')))).rejects.toThrow(TypeError);
  expect(await guarded(async () => 'found')).toBe('found');
});
