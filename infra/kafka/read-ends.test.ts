import { expect, test } from 'vitest';
import { createEndsReader } from './read-ends.ts';

// Red when a caller gets the response to a request that was sent before the call: it would miss what was
// written before.
test('a caller never gets the response to an earlier request; callers that wait share one', async () => {
  const responses: Array<(ends: number[]) => void> = [];
  const readEnds = createEndsReader(() => new Promise((resolve) => responses.push(resolve)));
  const put = async (count: number) => {
    while (responses.length < count) await new Promise(setImmediate);
  };
  const first = readEnds();
  await put(1);
  const late = [readEnds(), readEnds()];
  responses[0]?.([1]);
  expect(await first).toEqual([1]);
  await put(2);
  responses[1]?.([2]);
  expect(await Promise.all(late)).toEqual([[2], [2]]);
  expect(responses).toHaveLength(2);
});

test('a question that failed is put again', async () => {
  let count = 0;
  const readEnds = createEndsReader(async () => {
    if (count++ === 0) throw new TypeError('the test');
    return [count];
  });
  await expect(readEnds()).rejects.toThrow('the test');
  expect(await readEnds()).toEqual([2]);
});
