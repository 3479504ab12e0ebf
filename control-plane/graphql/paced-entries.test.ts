import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createPacer, type Pace } from './paced-entries.ts';

/*
 * Mutants this suite catches: entries that never wait; a request whose entries all wait behind those of
 * another; a read that begins while entries wait.
 */
const LIST = Array.from({ length: 10 }, (_, at) => at);

/** The entries, noted when each is there. */
function note(pace: Pace, values: number, noted: string[], name = ''): Promise<unknown> {
  const spread = Promise.resolve(pace.spread(LIST, values));
  return spread.then((entries) =>
    Promise.all(entries.map(async (one) => void noted.push(`${name}${await one}`))),
  );
}

describe('a list', () => {
  it('that fits into a turn is there at once', () => {
    expect(createPacer(100)().spread(LIST, 10)).toEqual(LIST);
  });

  it('comes in its order, no more of it in a turn than fits', async () => {
    const noted: string[] = [];
    const whole = note(createPacer(20)(), 10, noted);
    // The first two are there before the first turn.
    for (const count of [4, 6, 8, 10]) {
      await nextTurn();
      expect(noted.length).toBeLessThanOrEqual(count);
    }
    await whole;
    expect(noted).toEqual(LIST.map(String));
  });

  it('of entries larger than a turn comes one by one', async () => {
    const noted: string[] = [];
    await note(createPacer(5)(), 100, noted);
    expect(noted).toEqual(LIST.map(String));
  });
});

it('two requests take turns', async () => {
  const newPace = createPacer(10);
  const noted: string[] = [];
  await Promise.all([note(newPace(), 10, noted, 'a'), note(newPace(), 10, noted, 'b')]);
  expect(noted.indexOf('b0')).toBeLessThan(noted.indexOf('a3'));
  expect(noted.indexOf('a9')).toBeGreaterThan(noted.indexOf('b6'));
});

it('a read begins when no entry of its request waits', async () => {
  const newPace = createPacer(10);
  const [pace, noted] = [newPace(), [] as string[]];
  const whole = note(pace, 10, noted);
  await new Promise<void>((run) => pace.whenSpread(run));
  expect(noted).toHaveLength(LIST.length);
  await whole;
});
