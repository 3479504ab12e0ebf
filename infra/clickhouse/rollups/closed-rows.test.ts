import { afterEach, expect, it, vi } from 'vitest';
import { createClosedRows } from './closed-rows.ts';

afterEach(() => vi.useRealTimers());

// Red where a failure is not logged, where it ends the load, and where each block tries again.
it('a removal of closed rows that fails is logged with its code and tried again after a minute', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const sent: string[] = [];
  const lines: object[] = [];
  let isDown = true;
  const transport = {
    rows: async <Row>(): Promise<Row[]> => [],
    command: async (sql: string) => {
      sent.push(sql);
      if (isDown) throw new Error('no space');
    },
  };
  const closedRows = createClosedRows(transport, { warn: (line: object) => void lines.push(line) });
  closedRows.add([{ environment: 'ws_a:live', meterKey: 'calls', property: 'p', month: '2026-11-01' }]);
  for (let blocks = 0; blocks < 2; blocks++) await closedRows.remove();
  expect(sent).toHaveLength(1);
  expect(lines).toMatchObject([{ code: 'closed_rows_not_removed', months: ['2026-11-01'] }]);

  isDown = false;
  vi.advanceTimersByTime(60_001);
  for (let blocks = 0; blocks < 2; blocks++) await closedRows.remove();
  expect(sent).toHaveLength(2);
  expect(sent[1]).toContain('DELETE IN PARTITION 202611');
  expect(lines).toHaveLength(1);
});
