import { expect, it } from 'vitest';
import { eventLines } from '../../../tests/support/event-line.ts';
import { createEventInsert } from '../insert-events.ts';
import type { Transport } from '../transport.ts';
import { withColumns } from './with-columns.ts';

// Red when hours go first: after a crash in between they count events that are stored nowhere.
it('the hours of a block are inserted behind its events, under the same token', async () => {
  const sent: string[] = [];
  const transport: Transport = {
    rows: async <Row>() => [{ views: '0' }] as Row[],
    command: async () => undefined,
    insert: async ({ table }) => void sent.push(`lines of ${table}`),
    insertRows: async ({ tables, token }) => {
      for (const { table, block } of tables) sent.push(`${token}: ${block.rows} of ${table.split(' ')[0]}`);
    },
    close: async () => undefined,
  };
  const ids = ['a', 'b', 'c'].map((letter) => `use_${letter.repeat(26)}`);
  const lines = eventLines(ids.map((id) => ({ id })));
  await createEventInsert(transport)(withColumns(transport), { lines, token: 'one', timeoutMs: 1_000 });
  expect(sent).toEqual(['one: 3 of metergate.events', 'one: 1 of metergate.usage_hourly']);
});
