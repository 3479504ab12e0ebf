import { expect, it } from 'vitest';
import { compareWriters } from './same-bytes-under-test.ts';
import { compareRollups } from './same-rollups-under-test.ts';

it('both writers make the same bytes of 10,000 random blocks, and of 30,000 damaged ones', async () => {
  expect(await compareWriters('rows', 10_000)).toBeGreaterThan(5_000);
  expect(await compareWriters('damaged rows', 30_000)).toBeGreaterThan(1_500);
});

it('both make the same bytes of the events of 10,000 random frames, and of 30,000 damaged ones', async () => {
  expect(await compareWriters('frames', 10_000)).toBeGreaterThan(5_000);
  expect(await compareWriters('damaged frames', 30_000)).toBeGreaterThan(1_500);
});

it('both make the same rollups of 10,000 random blocks', async () => {
  expect(await compareRollups(10_000)).toBeGreaterThan(5_000);
});
