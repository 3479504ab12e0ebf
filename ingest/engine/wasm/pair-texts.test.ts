import { expect, test } from 'vitest';
import type { CustomerMeter } from '../../registry-entries.ts';
import { createPairTexts } from './pair-texts.ts';

const FROM = 16;

function pairOf(name: string, property?: string): CustomerMeter {
  const meter = { key: 'm', aggregation: 'unique' as const, property, archived: false };
  return { meter, json: `"${name}"`, fingerprint: `${name}!` };
}

test('three lengths come before the texts, and a pair that was met before keeps its place', () => {
  const memory = Buffer.alloc(100);
  const texts = createPairTexts(memory, FROM, 100);
  const pair = pairOf('ö', 'user');
  expect(texts.placeOf(pair)).toBe(FROM);
  expect(texts.placeOf(pair)).toBe(FROM);
  expect([0, 4, 8].map((at) => memory.readUInt32LE(FROM + at))).toEqual([3, 4, 4]);
  expect(memory.toString('utf8', FROM + 12, FROM + 23)).toBe('ö!"ö"user');
});

/** Red when the texts are cleared within a request: its first pairs would lose theirs. */
test('without room nothing is overwritten until the next request, which starts from empty', () => {
  const memory = Buffer.alloc(64);
  const texts = createPairTexts(memory, FROM, 64);
  const pairs = ['a', 'b', 'c'].map((name) => pairOf(name)); // 17 bytes each, room for two
  expect(pairs.map((pair) => texts.placeOf(pair))).toEqual([FROM, FROM + 17, undefined]);
  const before = Buffer.from(memory);
  expect(texts.placeOf(pairs[2] as CustomerMeter)).toBeUndefined();
  expect(memory).toEqual(before);
  texts.beginRequest();
  expect(texts.placeOf(pairs[2] as CustomerMeter)).toBe(FROM);
});
