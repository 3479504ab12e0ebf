import { expect, it } from 'vitest';
import { numberOption, OF_A_SCRIPT, readOptions, Unusable } from './read-options.ts';

const OPTIONS = { rounds: { type: 'string', default: '4' } } as const;

it('an option that is left out is its default', () => {
  expect(readOptions(OPTIONS, []).rounds).toBe('4');
  expect(readOptions(OPTIONS, ['--rounds', '7']).rounds).toBe('7');
});

it.each([['--round', '7'], ['7'], ['--rounds']])(
  'an unknown option is reported in one line: %s',
  (...args) => {
    expect(() => readOptions(OPTIONS, args)).toThrow(Unusable);
    expect(() => readOptions(OPTIONS, args)).toThrow(/^[^\n]+$/);
  },
);

it.each(['x', '', '-1', '0', '1.5', '1e3', '1001', 'Infinity'])('%j is no number of rounds', (text) => {
  const said = `--rounds ${text} is no whole number from 1 to 1000`;
  expect(() => numberOption('rounds', text, OF_A_SCRIPT.rounds)).toThrow(new Unusable(said));
});
