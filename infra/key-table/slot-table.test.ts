import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOT_FOUND, SlotTable } from './slot-table.ts';

/**
 * Tags whose home slots are the last ones, the first ones and some between; one part; so searches run
 * together.
 */
const id = fc.tuple(
  fc.constantFrom(0xffffffff, 0xfffffffe, 0xfc000000, 0xf0000000, 0, 1, 0x04000000, 0x08000000, 0x7fffffff),
  fc.constant(5),
  fc.nat(40),
);
const act = fc.record({ isRemoval: fc.boolean(), id });

describe('the slot table', () => {
  // Mutants it catches: a tag that is trusted; a removal that ends other ids' searches; a growth that loses
  // slots.
  it('finds what a map would find after any inserts and removals', () => {
    const acts = fc.array(act, { minLength: 1, maxLength: 400, size: 'max' });
    fc.assert(
      fc.property(acts, (acts) => {
        const known = new Map<string, number>();
        const ids: number[][] = [];
        const table = new SlotTable(0, (record, words, at) => isSame(ids[record], words, at));
        for (const { isRemoval, id } of acts) {
          const words = Uint32Array.from([9, ...id, 0]);
          const record = known.get(id.join());
          expect(table.find(words, 1)).toBe(record ?? NOT_FOUND);
          if (record === undefined) {
            table.insert(words, 1, ids.push(id) - 1);
            known.set(id.join(), ids.length - 1);
          } else if (isRemoval) {
            table.remove(words, 1, record);
            known.delete(id.join());
          }
        }
        for (const [key, record] of known) {
          expect(table.find(Uint32Array.from([...key.split(',').map(Number), 0]), 0)).toBe(record);
        }
      }),
    );
  });

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

function isSame(id: number[] | undefined, words: Uint32Array, at: number): boolean {
  return id?.every((word, nth) => word === words[at + nth]) ?? false;
}
