import { setTimeout as pass } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { Transient } from '../../schemas/failures.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';

const AWAY = new Transient('database_unavailable', 'Postgres is unavailable.');

function createBench() {
  let nowMs = 0;
  const lookUp = createCircuitBreaker({ monotonicMs: () => nowMs }, 10);
  return {
    lookUp,
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

const never = () => new Promise<string>(() => undefined);

/** Red when the race with the clock is taken out. */
test('a query that hangs is given up, and no other caller waits for it', async () => {
  const { lookUp } = createBench();
  const outcome = await Promise.race([lookUp(never).catch((error: Transient) => error.code), pass(1_000)]);
  expect(outcome).toBe('database_slow');
  const ask = vi.fn(never);
  await expect(lookUp(ask)).rejects.toMatchObject({ code: 'database_slow' });
  expect(ask).not.toHaveBeenCalled();
});

test('after a failure one query a second is tried, and the first success closes the circuit', async () => {
  const { lookUp, wait } = createBench();
  await expect(lookUp(() => Promise.reject(AWAY))).rejects.toBe(AWAY);
  await expect(lookUp(async () => 'found')).rejects.toBe(AWAY);
  wait(1_000);
  let comeBack: (found: string) => void = () => undefined;
  const trying = lookUp(
    () =>
      new Promise<string>((resolve) => {
        comeBack = resolve;
      }),
  );
  await expect(lookUp(async () => 'found')).rejects.toBe(AWAY);
  comeBack('back');
  expect(await trying).toBe('back');
  expect(await lookUp(async () => 'found')).toBe('found');
});

test('a programming error opens no circuit', async () => {
  const { lookUp } = createBench();
  await expect(lookUp(() => Promise.reject(new TypeError('no')))).rejects.toThrow(TypeError);
  expect(await lookUp(async () => 'found')).toBe('found');
});
