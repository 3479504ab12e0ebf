import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createProduceBatcher } from './produce-batcher.ts';

const turn = () => new Promise(setImmediate);

test('rounds of one turn continue together, and one with nothing to produce delays none', async () => {
  const setOut = createProduceBatcher(20_000);
  const [first, second, third] = [setOut(), setOut(), setOut()];
  const gone: string[] = [];
  const waiting = [first.comes().then(() => gone.push('first'))];
  await turn();
  third.leaves();
  await turn();
  expect(gone).toEqual([]);
  waiting.push(second.comes().then(() => gone.push('second')));
  await Promise.all(waiting);
  expect(gone).toEqual(['first', 'second']);
});

// Red when a stream of new rounds holds up the old ones.
test('no round waits for one that starts later', async () => {
  const setOut = createProduceBatcher();
  const first = setOut();
  await turn();
  setOut();
  expect(await Promise.race([first.comes().then(() => 'gone'), turn()])).toBe('gone');
});

// Red when one partition's lost response delays all others.
test('a round that does not come is not waited for', async () => {
  const setOut = createProduceBatcher();
  const [first] = [setOut(), setOut()];
  expect(await Promise.race([first.comes().then(() => 'gone'), delay(1_000)])).toBe('gone');
});

// Red when only the limit of the first round that waits applies.
test('each has a limit of its own for a round that does not come', async () => {
  const setOut = createProduceBatcher();
  const [first, second] = [setOut(), setOut(), setOut()];
  await first.comes();
  expect(await Promise.race([second.comes().then(() => 'gone'), delay(1_000)])).toBe('gone');
});
