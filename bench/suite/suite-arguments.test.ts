import { describe, expect, it } from 'vitest';
import { Unusable } from '../read-options.ts';
import { readSuiteArguments } from './suite-arguments.ts';

const read = (...args: string[]) => readSuiteArguments(args, ['keys', 'soak']);

describe('the arguments of the suite', () => {
  it('may be none', () => {
    expect(read()).toMatchObject({ form: 'whole', skip: [], sizes: { soakMs: 0 } });
  });

  it('have parts in the long forms alone that take long', () => {
    expect(read('--quick').sizes).toMatchObject({ growth: [], manyKeys: 0 });
    expect(read().sizes).toMatchObject({ growth: [1e6, 5e6], manyKeys: 2e6, sustainedMs: 60_000 });
    expect(read('--scale').sizes).toMatchObject({ growth: [1e6, 10e6, 50e6], manyKeys: 100e6 });
  });

  it('say the form, and what is left out of it', () => {
    expect(read('--quick', '--skip', 'keys', '--skip', 'soak')).toMatchObject({
      form: 'quick',
      skip: ['keys', 'soak'],
    });
    const sizes = { growth: [500_000, 20_000_000], soakMs: 60_000 };
    expect(read('--scale', '--millions', '20,0.5', '--minutes', '1')).toMatchObject({ form: 'scale', sizes });
  });

  // Fault this catches: an error with its stack, or minutes of work without what was requested.
  it.each([
    [['--fast'], /--fast/],
    [['soak'], /soak/],
    [['--skip', 'typo'], /--skip typo is no part: keys, soak/],
    [['--scale', '--millions', 'x'], /--millions x/],
    [['--scale', '--millions', '1,'], /--millions {2}is no number/],
    [['--scale', '--minutes', '0'], /--minutes 0/],
    [['--minutes', '5'], /--scale/],
    [['--quick', '--scale'], /give one/],
  ])('are rejected in one line: %j', (args, words) => {
    expect(() => read(...args)).toThrow(Unusable);
    expect(() => read(...args)).toThrow(words);
    expect(() => read(...args)).toThrow(/^[^\n]+$/);
  });
});
