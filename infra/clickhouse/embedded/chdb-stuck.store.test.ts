import { expect, it, onTestFinished } from 'vitest';
import { eventLine } from '../../../tests/support/event-line.ts';
import { SILENT } from '../../../tests/support/silent-log.ts';
import { testFolder } from '../../../tests/support/test-folder.ts';
import { createChdbWarehouse } from './chdb-warehouse.ts';

const LINES = Buffer.from(eventLine({ id: 'a' }));

function opened() {
  const notified: unknown[] = [];
  const onStuck = (error: unknown) => void notified.push(error);
  const warehouse = createChdbWarehouse({ directory: testFolder(), log: SILENT, onStuck, stuckAfterMs: 500 });
  onTestFinished(() => warehouse.close());
  return {
    notified,
    query: (sql: string, timeoutMs: number) => warehouse.query({ sql, connection: 'load', timeoutMs }),
    insert: () => warehouse.insertEvents({ token: 'a', lines: LINES, timeoutMs: 100 }),
  };
}

const STUCK = { name: 'Fatal', code: 'warehouse_stuck' };

// Red when only inserts are watched: the loader checks what runs before it sends a range again.
it('a statement that never returns is reported, also where only reads wait behind it', async () => {
  const { notified, query, insert } = opened();
  const held = query('SELECT sleep(3)', 50);
  await expect(held).rejects.toThrow();
  await expect(insert()).rejects.toThrow();
  for (let tries = 0; tries < 5; tries++) await expect(query('SELECT 1', 100)).rejects.toThrow();
  expect(notified).toEqual([expect.objectContaining(STUCK)]);
});

// Red when a read that returns counts as an insert that succeeded.
it('an engine that reads and writes nothing is reported', async () => {
  const { notified, query, insert } = opened();
  await expect
    .poll(
      async () => {
        await query('SELECT 1', 10_000);
        // There is no table.
        await expect(insert()).rejects.toThrow();
        return notified;
      },
      { timeout: 10_000, interval: 100 },
    )
    .toEqual([expect.objectContaining(STUCK)]);
});

it('questions that fail now and then are none of an engine that is stuck', async () => {
  const { notified, query } = opened();
  for (let tries = 0; tries < 4; tries++) {
    await expect(query('SELECT sleep(0.3)', 200)).rejects.toThrow();
    await query('SELECT 1', 10_000);
  }
  expect(notified).toEqual([]);
});
