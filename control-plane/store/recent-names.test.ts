import { expect, it } from 'vitest';
import { createRecentNames } from './recent-names.ts';

it('keeps the newest names, each for its time', () => {
  let nowMs = 0;
  const names = createRecentNames({ countMax: 2, keptMs: 10 }, () => nowMs);
  const kept = () => ['a', 'b', 'c'].filter(names.has);
  names.add('a');
  names.add('b');
  names.add('a');
  expect(kept()).toEqual(['a', 'b']);
  names.add('c');
  expect(kept()).toEqual(['a', 'c']);
  nowMs = 9;
  names.add('c');
  nowMs = 10;
  expect(kept()).toEqual(['c']);
});
