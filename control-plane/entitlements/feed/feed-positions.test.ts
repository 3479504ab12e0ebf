import { expect, test } from 'vitest';
import { createFeedPositions } from './feed-positions.ts';

test('a position counts for the same process and the same customers only', () => {
  const positions = createFeedPositions('p1');
  const set = positions.setOf('live', ['a', 'b']);
  expect(positions.setOf('live', ['b', 'a'])).toBe(set);
  const id = positions.idOf(set, 123_456);
  expect(positions.read(set, id)).toBe(123_456);
  expect(positions.read(positions.setOf('live', ['a', 'c']), id)).toBe(-1);
  for (const other of [positions.setOf('test', ['a', 'b']), positions.setOf('live', 1)]) {
    expect(positions.read(other, id)).toBe(-1);
  }
  const seen = [positions.setOf('live', 1), positions.setOf('live', 2), positions.setOf('test', 1)];
  expect(new Set(seen).size).toBe(3);
  expect(createFeedPositions('p2').read(set, id)).toBe(-1);
  for (const other of [undefined, '', 'x', `p1.${set}`, `p1.${set}.-1`, `p1.${set}.`]) {
    expect(positions.read(set, other)).toBe(-1);
  }
});
