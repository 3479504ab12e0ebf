import { expect, it } from 'vitest';
import { boundOf } from './level-bound.ts';

/** Red when the limit is shown with the share of a budget: 59,012 of 100,000 were 102 %. */
it('is the one of which more is used', () => {
  const level = { current: '59012', limit: '100000', budget: '57855' };
  expect(boundOf(level)).toEqual({ kind: 'budget', value: '57855' });
  expect(boundOf({ ...level, budget: '200000' })).toEqual({ kind: 'limit', value: '100000' });
});

it('is the only one that there is', () => {
  expect(boundOf({ current: '1', budget: '8' })).toEqual({ kind: 'budget', value: '8' });
  expect(boundOf({ current: '1', limit: '8' })).toEqual({ kind: 'limit', value: '8' });
});

it('is a limit of 0 until a budget is passed', () => {
  expect(boundOf({ current: '5', limit: '0', budget: '10' }).kind).toBe('limit');
  expect(boundOf({ current: '15', limit: '0', budget: '10' }).kind).toBe('budget');
});
