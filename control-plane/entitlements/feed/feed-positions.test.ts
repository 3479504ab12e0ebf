import { expect, test } from 'vitest';
import { createFeedPositions } from './feed-positions.ts';

test('a position counts for the same process and the same customers only', () => {
  const positions = createFeedPositions('p1');
  const set = positions.ofNames(['a', 'b']);
  expect(positions.ofNames(['b', 'a'])).toBe(set);
  const id = positions.idOf(set, 123_456);
  expect(positions.read(set, id)).toBe(123_456);
  expect(positions.read(positions.ofNames(['a', 'c']), id)).toBe(-1);
  expect(positions.read(positions.ofNames(undefined), id)).toBe(-1);
  expect(createFeedPositions('p2').read(set, id)).toBe(-1);
  for (const other of [undefined, '', 'x', `p1.${set}`, `p1.${set}.-1`, `p1.${set}.`]) {
    expect(positions.read(set, other)).toBe(-1);
  }
});
