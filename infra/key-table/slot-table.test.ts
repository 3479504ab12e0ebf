import { describe, expect, it } from 'vitest';
import { SlotTable } from './slot-table.ts';

describe('the slot table', () => {
  it('finds what was collected once it is settled, in whatever number it came', () => {
    for (const keys of [0, 1, 64, 65, 100, 1_000, 200_000]) {
      for (const expected of [0, keys]) {
        const ids = Uint32Array.from({ length: keys * 3 }, (_, at) => Math.imul(at + 1, 0x9e3779b1));
        const table = new SlotTable(expected, (record, words, at) => words[at + 2] === ids[record * 3 + 2]);
        for (let key = 0; key < keys; key++) table.collect(ids, key * 3, key);
        table.settle();
        const lost = Array.from({ length: keys }, (_, key) => key).filter(
          (key) => table.find(ids, key * 3) !== key,
        );
        expect(lost).toEqual([]);
      }
    }
  });

  it('finds what was collected in one part alone', () => {
    const ids = Uint32Array.from({ length: 300 * 3 }, (_, at) => (at % 3 === 1 ? 5 : at));
    const table = new SlotTable(300, (record, words, at) => words[at] === ids[record * 3]);
    for (let key = 0; key < 300; key++) table.collect(ids, key * 3, key);
    table.settle();
    for (let key = 0; key < 300; key++) expect(table.find(ids, key * 3)).toBe(key);
  });
});
