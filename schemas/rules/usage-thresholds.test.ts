import { describe, expect, it } from 'vitest';
import { reachedThresholds, usageThresholds } from './usage-thresholds.ts';

// Breaks that turn it red: a double for the 80 %; `<` for `<=`; one value of a budget and a limit twice.
describe('thresholds of usage', () => {
  it('are those of the budget, and of each limit the limit and 80 % of it, each once', () => {
    expect(usageThresholds({ soft: '80', hard: '1000.50' }, ['100', '7'])).toEqual([
      ...['5.6', '7', '80', '100', '1000.5'],
    ]);
    expect(usageThresholds(undefined, ['0.000000000001'])).toEqual(['0', '0.000000000001']);
    expect(usageThresholds({ soft: null, hard: '123456789.000000000001' }, [])).toEqual([
      '123456789.000000000001',
    ]);
    expect(usageThresholds(undefined, [])).toEqual([]);
  });

  it('are reached by as much, and by nobody who has used nothing', () => {
    expect(reachedThresholds(['0', '5', '5.000000000001'], '5')).toEqual(['0', '5']);
    expect(reachedThresholds(['0', '5'], '0')).toEqual([]);
    expect(reachedThresholds(['0'], '-1')).toEqual([]);
  });
});
