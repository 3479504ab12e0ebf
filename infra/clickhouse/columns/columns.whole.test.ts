import { expect, it } from 'vitest';
import { compareWriters } from './same-bytes-under-test.ts';

it('both writers make the same bytes of 10,000 random blocks, and of 30,000 damaged ones', async () => {
  expect(await compareWriters('sound', 10_000)).toBeGreaterThan(5_000);
  expect(await compareWriters('damaged', 30_000)).toBeGreaterThan(1_500);
});
