import { expect, test } from 'vitest';
import { untilNoInsertRuns } from './running-inserts.ts';

const PATIENCE = { timeoutMs: 200, everyMs: 1 };

function warehouseWith(counts: string[]) {
  const query = async () => [{ running: counts.length > 1 ? counts.shift() : counts[0] }];
  return { query: query as never };
}

// Red when an abandoned insert is not waited for: it may add its hours after they were rewritten.
test('an abandoned insert is waited for, and not forever', async () => {
  const counts = ['2', '1', '0'];
  await untilNoInsertRuns(warehouseWith(counts), PATIENCE);
  expect(counts).toEqual(['0']);
  await expect(untilNoInsertRuns(warehouseWith(['1']), PATIENCE)).rejects.toMatchObject({
    code: 'inserts_running',
  });
});
