import { expect, it } from 'vitest';
import { createLongReads } from './long-reads.ts';

/*
 * Mutants this suite catches: one bound for all environments, as it was (40 breakdowns of one workspace, and
 * the next of another got 503); first come, first served among all, so that it waits for 30 of them.
 */
it('40 long reads of one environment delay one of another by no more than the running ones', async () => {
  const longReads = createLongReads();
  const begun: string[] = [];
  const ends: Array<() => void> = [];
  const read = (name: string) => () =>
    new Promise<void>((resolve) => {
      begun.push(name);
      ends.push(resolve);
    });
  const crowd = Array.from({ length: 40 }, (_, at) => longReads('crowd', read(`crowd ${at}`)));
  const outcomes = Promise.allSettled(crowd);
  const others = ['b', 'c', 'd'].map((name) => longReads(name, read(name)));
  expect(begun).toEqual(['crowd 0', 'crowd 1', 'b', 'c']);
  ends[0]?.();
  await expect.poll(() => begun.at(-1), { timeout: 20_000 }).toBe('crowd 2');
  ends[1]?.();
  await expect.poll(() => begun.at(-1), { timeout: 20_000 }).toBe('d');
  for (let at = 2; at < 35; at += 1) {
    await expect.poll(() => ends.length, { timeout: 20_000 }).toBeGreaterThan(at);
    ends[at]?.();
  }
  await Promise.all(others);
  const rejected = (await outcomes).filter(({ status }) => status === 'rejected');
  expect(rejected).toHaveLength(8);
});
