import { expect, it } from 'vitest';
import { usageSources } from './usage-sources.ts';
import { NO_CHANGES } from './usage-views.ts';

/** Red where statements on usage that was never changed read anything else than before there were changes. */
it('without changes each source is its table with the condition', () => {
  const sources = usageSources(NO_CHANGES);
  expect(sources.hours(' WHERE a')).toBe('metergate.usage_hourly WHERE a');
  expect(sources.hours(' WHERE u.a', { alias: 'u', restates: false })).toBe(
    'metergate.usage_hourly AS u WHERE u.a',
  );
  expect(sources.byProperty(' WHERE r.a', 'r')).toBe('metergate.usage_by_property AS r WHERE r.a');
  expect(sources.events(' PREWHERE a')).toBe('metergate.events FINAL PREWHERE a');
  expect(sources.listed(' WHERE a', ' LIMIT 1', { isFinal: true })).toBe('metergate.events FINAL WHERE a');
  expect(sources.listed(' WHERE a', ' LIMIT 1', { isFinal: false })).toBe('metergate.events WHERE a');
  expect([sources.isPlain, sources.notVoided('n'), sources.restates('max')]).toEqual([true, '', false]);
});

it('hours are restated where something is voided that cannot be subtracted', () => {
  const view = { hidden: [], upTo: 3, hasVoids: true };
  const restated = (['sum', 'count', 'max', 'latest', 'unique'] as const).map(usageSources(view).restates);
  expect(restated).toEqual([false, false, true, true, true]);
  expect(usageSources({ ...view, hasVoids: false }).restates('max')).toBe(false);
});

it('a number that is none never becomes part of a statement', () => {
  const view = { hidden: ['1) OR (1' as unknown as number], upTo: 3, hasVoids: true };
  expect(() => usageSources(view).hours(' WHERE a')).toThrow(TypeError);
});
