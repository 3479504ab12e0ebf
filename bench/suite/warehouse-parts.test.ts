import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';
import { activeParts, bytesByTable, whenMergesRest } from './warehouse-parts.ts';

// Fault this catches: parts that were merged counted once more, as long as ClickHouse keeps them.
it('parts that another one has taken in are not active', () => {
  const names = ['202611_1_1_0', '202611_2_4_1', '202611_1_4_2', '202611_5_5_0', '202610_1_1_0', 'detached'];
  expect(activeParts(names)).toEqual(['202610_1_1_0', '202611_1_4_2', '202611_5_5_0']);
  expect(activeParts(['all_1_4_2', 'all_1_4_2_7'])).toEqual(['all_1_4_2_7']);
  expect(activeParts(['tmp_merge_all_1_4_2', 'all_1_2_1', 'all_3_3_0'])).toContain('all_1_2_1');
});

it('a table of events takes what its active parts take', async () => {
  const warehouse = testFolder();
  const store = join(warehouse, 'store', 'abc');
  for (const [part, bytes] of [
    ['all_1_1_0', 50_000],
    ['all_1_2_1', 81_920],
  ] as const) {
    mkdirSync(join(store, part), { recursive: true });
    writeFileSync(join(store, part, 'data.bin'), Buffer.alloc(bytes, 1));
  }
  mkdirSync(join(warehouse, 'data', 'metergate'), { recursive: true });
  for (const table of ['events', 'migrations']) {
    symlinkSync(store, join(warehouse, 'data', 'metergate', table));
  }
  expect(await bytesByTable(warehouse, 1_000)).toEqual({ events: 81.92 });
});

describe('merges', () => {
  const REST = { restMs: 300, lookEveryMs: 5, timeoutMs: 20_000 };

  function merging(): { warehouse: string; merge: string; merged: string } {
    const warehouse = testFolder();
    const table = join(warehouse, 'data', 'metergate', 'events');
    const [merge, merged] = [join(table, 'tmp_merge_all_1_2_1'), join(table, 'all_1_2_1')];
    mkdirSync(merge, { recursive: true });
    return { warehouse, merge, merged };
  }

  // Fault this catches: the cost of the last merges left out, or that of the rest after them included.
  it('rest when nothing is merged any more, and what was then is given', async () => {
    const { warehouse, merge, merged } = merging();
    let [looks, looksAtTheEnd] = [0, 0];
    const sample = () => {
      looks++;
      return looks;
    };
    setTimeout(() => {
      renameSync(merge, merged);
      looksAtTheEnd = looks;
    }, 50);
    expect(await whenMergesRest(warehouse, sample, REST)).toBe(looksAtTheEnd + 1);
  });

  it('that never rest are an error', async () => {
    const { warehouse } = merging();
    const soon = { ...REST, timeoutMs: 50 };
    await expect(whenMergesRest(warehouse, () => undefined, soon)).rejects.toThrow(/does not stop merging/);
  });
});
