import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../support/test-folder.ts';
import type { FaultPromise, FaultResult, RoundReport } from './promise.ts';
import { newRunFile, unfinishedRunFile, writeRunFile } from './run-file.ts';
import { runPromise, unbegun } from './run-promise.ts';

const RUN = { seed: 5, rounds: 4, form: 'short' as const };

/** A promise whose rounds do as scripted, and report that they ran. */
function promiseOf(round: (number: number) => Partial<RoundReport>, judge?: () => RoundReport) {
  const seen: Array<number | string> = [];
  const promise: FaultPromise = {
    promises: [1],
    title: 'as scripted',
    rounds: { short: 4, long: 9 },
    async open({ onEnd }) {
      onEnd(async ({ keep }) => {
        seen.push(keep ? 'kept' : 'removed');
        return keep ? 'there' : undefined;
      });
      return {
        async round({ number }) {
          seen.push(number);
          return { counts: { done: 1 }, peaks: { size: number }, problems: [], ...round(number) };
        },
        ...(judge ? { judge: async () => judge() } : {}),
      };
    },
  };
  return { promise, seen };
}

describe('a promise', () => {
  it('is kept when every round is: counts are added up, of peaks the largest is kept', async () => {
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

  it('that was judged broken stays so when its end fails as well', async () => {
    const { promise } = promiseOf(() => ({ problems: ['lost'] }));
    const open: FaultPromise['open'] = (options) => {
      options.onEnd(() => Promise.reject(new Error('no end')));
      return promise.open(options);
    };
    const result = await runPromise({ ...promise, open }, RUN);
    expect(result.problems.join()).toMatch(/^lost,.*no end/);
    expect(result.leftAt).toBe('there');
    expect(result).not.toHaveProperty('thrown');
  });

  it('is broken by what a round throws, by the last judgement, and by what cannot be opened', async () => {
    const thrown = promiseOf(() => {
      throw new Error('no response', { cause: 'a reset' });
    });
    const broken = await runPromise(thrown.promise, RUN);
    expect(broken.problems.join()).toMatch(/no response[\s\S]*cause: a reset/);
    const judged = promiseOf(
      () => ({}),
      () => ({ counts: {}, problems: ['twice'] }),
    );
    const found = await runPromise(judged.promise, RUN);
    expect(found).toMatchObject({ outcome: 'broken', roundsDone: 4 });
    const open: FaultPromise['open'] = async (options) => {
      await judged.promise.open(options);
      throw new Error('no port');
    };
    const closed = await runPromise({ ...judged.promise, open }, RUN);
    expect(closed.problems.join()).toContain('no port');
    expect(judged.seen.at(-1)).toBe('removed');
    expect([broken, found, closed].map((one) => one.thrown)).toEqual([true, undefined, true]);
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

describe('a promise that is judged at its end', () => {
  /** Interrupted while the act that says so goes on: the nth round, or the judgement after all of them. */
  function interruptedIn(act: number | 'judge', found: string[] = []) {
    let interrupted = false;
    let judgements = 0;
    const { promise, seen } = promiseOf(
      (number) => {
        interrupted ||= number === act;
        return {};
      },
      () => {
        judgements++;
        interrupted ||= act === 'judge';
        return { counts: { judgements: 1 }, problems: found };
      },
    );
    const run = { ...RUN, isInterrupted: () => interrupted };
    return { promise, run, seen, judgements: () => judgements };
  }

  it('has what was done before an interrupt judged, and a resume runs and judges the rest', async () => {
    const cut = interruptedIn(2);
    const first = await runPromise(cut.promise, cut.run);
    expect(first).toMatchObject({ outcome: 'unfinished', roundsDone: 2, roundsJudged: 2 });
    const rest = interruptedIn(9);
    const result = await runPromise(rest.promise, { ...rest.run, resumed: first });
    expect(result).toMatchObject({ outcome: 'kept', roundsJudged: 4, counts: { done: 4, judgements: 2 } });
    expect(result).not.toHaveProperty('judged');
    expect(rest.seen).toEqual([2, 3, 'removed']);
  });

  it.each([2, 'judge' as const])(
    'is run again from where no judgement was had: cut off in %s',
    async (act) => {
      const cut = interruptedIn(act, ['the signal ended the server']);
      const first = await runPromise(cut.promise, cut.run);
      expect(first).toMatchObject({ outcome: 'unfinished', roundsJudged: 0, problems: [] });
      const again = interruptedIn(9);
      const result = await runPromise(again.promise, { ...again.run, resumed: first });
      expect(result).toMatchObject({ outcome: 'kept', roundsJudged: 4, counts: { done: 4, judgements: 1 } });
      expect(again.seen).toEqual([0, 1, 2, 3, 'removed']);
    },
  );

  it('keeps what was judged when the run that goes on with it ends without a word', async () => {
    const cut = interruptedIn(2);
    const first = await runPromise(cut.promise, cut.run);
    let written: FaultResult | undefined;
    const killed = interruptedIn(9);
    const onRound = (result: FaultResult) => {
      written ??= structuredClone(result);
    };
    await runPromise(killed.promise, { ...killed.run, resumed: first, onRound });
    expect(written).toMatchObject({ roundsDone: 3, roundsJudged: 2, judged: { counts: { done: 2 } } });
    const rest = interruptedIn(9);
    const result = await runPromise(rest.promise, { ...rest.run, ...(written ? { resumed: written } : {}) });
    expect(result).toMatchObject({ outcome: 'kept', counts: { done: 4, judgements: 2 } });
    expect(rest.seen).toEqual([2, 3, 'removed']);
  });
});

describe('a result file', () => {
  it('is found again while something of it is unfinished, the newest one alone', () => {
    const folder = testFolder();
    const { promise } = promiseOf(() => ({}));
    const opened = newRunFile(folder, 'short', [unbegun(promise, RUN)]);
    writeRunFile(folder, opened);
    expect(unfinishedRunFile(folder)).toEqual(opened);
    const older = { ...opened, file: { ...opened.file, commit: 'b83522c' } };
    writeRunFile(folder, older);
    expect(() => unfinishedRunFile(folder)).toThrow('was begun on b83522c, and this is');
    const later = { ...opened, path: join(folder, 'torture-9999.json') };
    const results = [{ ...unbegun(promise, RUN), outcome: 'kept' as const }];
    writeRunFile(folder, { ...later, file: { ...later.file, results } });
    expect(unfinishedRunFile(folder)).toBeUndefined();
  });
});
