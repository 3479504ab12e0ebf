import { expect, it } from 'vitest';
import { deferred } from '../../tests/support/deferred.ts';
import { shareOutcome } from './shared-outcome.ts';

/*
 * Mutants that turn it red: each caller makes its own; nothing is kept; an outcome is kept forever; a failure
 * is made again for every caller.
 */
function startShared() {
  const clock = { ms: 0 };
  const made: Array<ReturnType<typeof deferred<string>>> = [];
  const call = shareOutcome(
    () => {
      const next = deferred<string>();
      made.push(next);
      return next.promise;
    },
    { keptMs: 1_000, nowMs: () => clock.ms },
  );
  return { clock, made, call };
}

it('all concurrent callers share one outcome, and it is kept for its time', async () => {
  const { clock, made, call } = startShared();
  const requested = Array.from({ length: 1_500 }, call);
  clock.ms = 5_000;
  requested.push(call());
  expect(made).toHaveLength(1);
  made[0]?.resolve('one');
  expect(new Set(await Promise.all(requested))).toEqual(new Set(['one']));
  clock.ms = 5_999;
  expect(await call()).toBe('one');
  clock.ms = 6_000;
  const next = call();
  expect(made).toHaveLength(2);
  made[1]?.resolve('two');
  expect(await next).toBe('two');
});

it('a failure is shared and kept as well', async () => {
  const { clock, made, call } = startShared();
  const requested = [call(), call()];
  made[0]?.reject(new Error('unavailable'));
  for (const one of requested) await expect(one).rejects.toThrow('unavailable');
  await expect(call()).rejects.toThrow('unavailable');
  expect(made).toHaveLength(1);
  clock.ms = 1_000;
  void call();
  expect(made).toHaveLength(2);
});

// Red when a call that never ends is waited for: no later caller would ever get a page.
it('a call that hangs is left to its callers, and its late end changes nothing', async () => {
  const { clock, made, call } = startShared();
  void call();
  clock.ms = 14_999;
  void call();
  expect(made).toHaveLength(1);
  clock.ms = 15_000;
  const next = call();
  expect(made).toHaveLength(2);
  made[1]?.resolve('two');
  expect(await next).toBe('two');
  clock.ms = 15_900;
  made[0]?.resolve('one');
  await Promise.resolve();
  clock.ms = 16_000;
  void call();
  expect(made).toHaveLength(3);
});

it('a call that fails before it begins is a failure as well', async () => {
  let calls = 0;
  const call = shareOutcome(() => {
    calls += 1;
    throw new Error('at once');
  });
  await expect(call()).rejects.toThrow('at once');
  await expect(call()).rejects.toThrow('at once');
  expect(calls).toBe(1);
});
