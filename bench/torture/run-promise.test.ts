import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RoundReport, TorturePromise } from './promise.ts';
import { newTortureFile, unfinishedTortureFile, writeTortureFile } from './result-file.ts';
import { runPromise, unbegun } from './run-promise.ts';

const RUN = { seed: 5, rounds: 4, form: 'short' as const };

/** A promise whose rounds do what they are told, and say that they were there. */
function promiseOf(round: (number: number) => Partial<RoundReport>, judge?: () => RoundReport) {
  const seen: Array<number | string> = [];
  const promise: TorturePromise = {
    promises: [1],
    title: 'as told',
    rounds: { short: 4, long: 9 },
    open: async () => ({
      async round(number) {
        seen.push(number);
        return { counts: { done: 1 }, peaks: { size: number }, problems: [], ...round(number) };
      },
      ...(judge ? { judge: async () => judge() } : {}),
      async close({ keep }) {
        seen.push(keep ? 'kept' : 'removed');
        return keep ? 'there' : undefined;
      },
    }),
  };
  return { promise, seen };
}

describe('a promise', () => {
  it('is kept when every round is: counts are added up, of peaks the largest stands', async () => {
    const { promise, seen } = promiseOf(() => ({}));
    const result = await runPromise(promise, RUN);
    expect(result).toMatchObject({ outcome: 'kept', roundsDone: 4, counts: { done: 4 }, peaks: { size: 3 } });
    expect(seen).toEqual([0, 1, 2, 3, 'removed']);
  });

  it('is broken by a round with a problem: no further one is run, and the data is left', async () => {
    const { promise, seen } = promiseOf((number) => ({ problems: number === 1 ? ['lost'] : [] }));
    const result = await runPromise(promise, RUN);
    expect(result).toMatchObject({ outcome: 'broken', problems: ['lost'], leftAt: 'there', roundsDone: 2 });
    expect(seen).toEqual([0, 1, 'kept']);
  });

  it('is broken by what a round throws, by the last judgement, and by what cannot be opened', async () => {
    const thrown = promiseOf(() => {
      throw new Error('no answer', { cause: 'a reset' });
    });
    const { problems } = await runPromise(thrown.promise, RUN);
    expect(problems.join()).toMatch(/no answer[\s\S]*cause: a reset/);
    const judged = promiseOf(
      () => ({}),
      () => ({ counts: {}, problems: ['twice'] }),
    );
    expect(await runPromise(judged.promise, RUN)).toMatchObject({ outcome: 'broken', roundsDone: 4 });
    const unopened = { ...judged.promise, open: () => Promise.reject(new Error('no port')) };
    expect((await runPromise(unopened, RUN)).problems.join()).toContain('no port');
  });

  it('that the machine lacks something for is not begun, and says what', async () => {
    const { promise, seen } = promiseOf(() => ({}));
    const result = await runPromise({ ...promise, lacks: () => 'it needs a drum' }, RUN);
    expect(result).toMatchObject({ outcome: 'not run', lacks: 'it needs a drum', roundsDone: 0 });
    expect(seen).toEqual([]);
  });

  it('that is interrupted drops the round it was in, and goes on with it when resumed', async () => {
    let interrupted = false;
    const { promise, seen } = promiseOf((number) => {
      interrupted = number === 2;
      return { problems: interrupted ? ['the signal reached the server too'] : [] };
    });
    const cut = await runPromise(promise, { ...RUN, isInterrupted: () => interrupted });
    expect(cut).toMatchObject({ outcome: 'unfinished', roundsDone: 2, counts: { done: 2 }, problems: [] });
    const sound = promiseOf(() => ({}));
    const result = await runPromise(sound.promise, { ...RUN, resumed: cut });
    expect(result).toMatchObject({ outcome: 'kept', roundsDone: 4, counts: { done: 4 } });
    expect([seen, sound.seen]).toEqual([
      [0, 1, 2, 'removed'],
      [2, 3, 'removed'],
    ]);
  });
});

describe('a result file', () => {
  it('is found again while something of it is unfinished, the newest one alone', () => {
    const folder = mkdtempSync(join(tmpdir(), 'metergate-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { promise } = promiseOf(() => ({}));
    const opened = newTortureFile(folder, 'short', [unbegun(promise, RUN)]);
    writeTortureFile(folder, opened);
    expect(unfinishedTortureFile(folder)).toEqual(opened);
    const later = { ...opened, path: join(folder, 'torture-9999.json') };
    const results = [{ ...unbegun(promise, RUN), outcome: 'kept' as const }];
    writeTortureFile(folder, { ...later, file: { ...later.file, results } });
    expect(unfinishedTortureFile(folder)).toBeUndefined();
  });
});
