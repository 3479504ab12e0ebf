import { expect, it } from 'vitest';
import { insertFailure, readFailure } from './driver-errors.ts';
import { repairBlock } from './repair-block.ts';
import type { Transport } from './transport.ts';

// Red when the raw error is passed on: it would end the aggregator, and a reader would get a 500.
it.each([225, 242, 244, 254, 285, 286, 289, 319, 341, 733, 999])(
  'a cluster error with code %i is temporary',
  (code) => {
    const error = Object.assign(new Error('no quorum'), { code: String(code) });
    for (const failure of [readFailure(error), insertFailure(error)]) {
      expect(failure).toMatchObject({ name: 'Transient', code: 'warehouse_unavailable' });
    }
  },
);

// Red when the table is made like `events`: of a cluster that is a copy, whose name only ON CLUSTER may make.
it('the tables that repair a block are local to one server', async () => {
  const notified: string[] = [];
  const transport: Transport = {
    rows: async <Row>() => [{ id: '202610', hours: '1', lines: '1' }] as Row[],
    command: async (sql) => void notified.push(sql),
    insert: async () => undefined,
    insertRows: async () => undefined,
    close: async () => undefined,
  };
  await repairBlock(transport, {
    lines: Buffer.from(''),
    token: 'a',
    timeoutMs: 1_000,
    eventsMayBeLost: false,
  });
  const made = notified.filter((sql) => sql.startsWith('CREATE TABLE'));
  expect(made).toHaveLength(3);
  expect(made.filter((sql) => !/ ENGINE = (Memory|ReplacingMergeTree)\b/.test(sql))).toEqual([]);
  // Its parts become those of `events`: they have to be on disk as those are.
  expect(made.join()).toContain('fsync_after_insert = 1, fsync_part_directory = 1');
});
