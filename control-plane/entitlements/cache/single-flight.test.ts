import { describe, expect, it } from 'vitest';
import { deferred } from '../../../tests/support/deferred.ts';
import { createSingleFlight } from './single-flight.ts';

/*
 * Mutants this suite catches: a fill that is joined after its id was invalidated; an invalidated fill whose
 * result is cached; an invalidated id that invalidates all others.
 */
const PLACE = { name: 'env ada', environment: 'env' };

/** A fill that the test ends, and that then returns whether its result may be cached. */
function createFill(id = 'cus_a') {
  const seen: { begun: number; kept: boolean | undefined } = { begun: 0, kept: undefined };
  const { promise, resolve } = deferred<void>();
  return {
    seen,
    end: () => resolve(),
    async fill(isStillTrue: (id: string) => boolean) {
      seen.begun += 1;
      await promise;
      seen.kept = isStillTrue(id);
      return id;
    },
  };
}

describe('single-flight fills', () => {
  it('are one for all concurrent requests', async () => {
    const fills = createSingleFlight<string>();
    const one = createFill();
    const requested = [fills.join(PLACE, one.fill), fills.join(PLACE, one.fill)];
    one.end();
    expect(await Promise.all(requested)).toEqual(['cus_a', 'cus_a']);
    expect(one.seen).toEqual({ begun: 1, kept: true });
  });

  it.each([
    ['its id', (fills: ReturnType<typeof createSingleFlight<string>>) => fills.doubt(['cus_a'])],
    ['its environment', (fills) => fills.doubtEnvironment('env')],
    ['everything', (fills) => fills.doubtAll()],
  ])('are used once, not cached and not joined when %s was invalidated', async (_, doubt) => {
    const fills = createSingleFlight<string>();
    const [early, late] = [createFill(), createFill()];
    const first = fills.join(PLACE, early.fill);
    doubt(fills);
    const second = fills.join(PLACE, late.fill);
    early.end();
    late.end();
    expect(await Promise.all([first, second])).toEqual(['cus_a', 'cus_a']);
    expect([early.seen, late.seen]).toEqual([
      { begun: 1, kept: false },
      { begun: 1, kept: true },
    ]);
  });

  it('are cached when something else was invalidated', async () => {
    const fills = createSingleFlight<string>();
    const one = createFill();
    const found = fills.join(PLACE, one.fill);
    fills.doubt(['cus_b']);
    fills.doubtEnvironment('other');
    one.end();
    await found;
    expect(one.seen.kept).toBe(true);
  });

  it('are over when they fail: the next one starts again', async () => {
    const fills = createSingleFlight<string>();
    await expect(fills.join(PLACE, () => Promise.reject(new TypeError('broken')))).rejects.toThrow('broken');
    const next = createFill();
    next.end();
    expect(await fills.join(PLACE, next.fill)).toBe('cus_a');
  });
});
