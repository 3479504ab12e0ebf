import { describe, expect, it } from 'vitest';
import type { ThresholdKind } from '../../schemas/value-sets.ts';
import { reachedThresholds, usageThresholds } from './usage-thresholds.ts';

// Mutants that turn it red: a double for the 80 %; `<` for `<=`; one value of a budget and a limit twice.
describe('thresholds of usage', () => {
  const shown = (...given: Parameters<typeof usageThresholds>) =>
    usageThresholds(...given).map(({ value, kind }) => `${value} ${kind}`);
  const soft = (value: string) => ({ value, kind: 'soft' as ThresholdKind });

  it('are those of the budget, and of each limit the limit and 80 % of it, each once', () => {
    expect(shown({ soft: '80', hard: '1000.50' }, ['100', '7'])).toEqual([
      ...['5.6 soft', '7 hard', '80 soft', '100 hard', '1000.5 hard'],
    ]);
    expect(shown(undefined, ['0.000000000001'])).toEqual(['0 soft', '0.000000000001 hard']);
    expect(shown({ soft: null, hard: '123456789.000000000001' }, [])).toEqual([
      '123456789.000000000001 hard',
    ]);
    expect(shown(undefined, [])).toEqual([]);
  });

  it('that are soft for one reason and hard for another are hard', () => {
    expect(shown({ soft: '100', hard: '80' }, ['100'])).toEqual(['80 hard', '100 hard']);
    expect(shown(undefined, ['80', '100'])).toEqual(['64 soft', '80 hard', '100 hard']);
  });

  it('are reached by equal usage, and never by usage of 0', () => {
    const [none, five, more] = ['0', '5', '5.000000000001'].map(soft);
    const all = [none, five, more].flatMap((one) => one ?? []);
    expect(reachedThresholds(all, '5')).toEqual([none, five]);
    expect(reachedThresholds([soft('0'), soft('5')], '0')).toEqual([]);
    expect(reachedThresholds([soft('0')], '-1')).toEqual([]);
  });
});
