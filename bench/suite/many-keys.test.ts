import { expect, it } from 'vitest';
import { judgedKeys, type ManyKeysFigures, mustBeReplayed } from './many-keys.ts';

const FIGURES: ManyKeysFigures = {
  keys: 100_000_000,
  memoryBytes: { few: 100_000_000, all: 400_000_000 },
  keyFileBytes: 4_000_008_240,
  restartSeconds: [1.9, 1.4, 1.5],
  cpuMicrosPerKey: 0.3,
};

it('a key takes what all of them take beyond an empty table', () => {
  expect(judgedKeys(FIGURES).map(({ id, value }) => [id, value])).toEqual([
    ['G17', 3],
    ['G18', 1.5],
    ['G19', 40],
  ]);
});

// Fault this catches: two million keys, of which none is sealed, and the target of a hundred million reached.
it('is of a smaller form with fewer keys', () => {
  const isSmaller = (keys: number) => judgedKeys({ ...FIGURES, keys }).map((one) => one.isSmaller);
  expect(isSmaller(100_000_000)).toEqual([false, false, false]);
  expect(isSmaller(2_000_000)).toEqual([true, true, true]);
});

// Fault this catches: a start that is quick since it has forgotten the oldest keys.
it('fails where the oldest key is new again, or has become another event', () => {
  const response = (id: string, replayed = 'true') => {
    return { status: 201, headers: { 'idempotent-replayed': replayed }, body: { id } };
  };
  expect(() => mustBeReplayed(response('use_a'), response('use_a'))).not.toThrow();
  for (const again of [response('use_b'), response('use_a', 'false')]) {
    expect(() => mustBeReplayed(response('use_a'), again)).toThrow(/no duplicate/);
  }
});
