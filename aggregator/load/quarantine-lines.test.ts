import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { findRejectedLines } from './quarantine-lines.ts';

const lines = fc.array(fc.constantFrom('good\n', 'bad\n'), { maxLength: 60 });

// Red when the half that was not at fault first is not looked at.
test('every line at fault is found, and no other', async () => {
  await fc.assert(
    fc.asyncProperty(lines, async (given) => {
      const { warehouse } = rejecting('bad\n');
      const found = await findRejectedLines(
        warehouse,
        given.map((line) => Buffer.from(line)),
      );
      expect(found).toEqual(given.flatMap((line, number) => (line === 'bad\n' ? [number] : [])));
    }),
  );
});

test('one bad line among 60,000 takes two questions per halving', async () => {
  const { warehouse, requested } = rejecting('bad\n');
  const given = Array.from({ length: 60_000 }, (_, at) => Buffer.from(at === 41_234 ? 'bad\n' : 'good\n'));
  expect(await findRejectedLines(warehouse, given)).toEqual([41_234]);
  expect(requested()).toBeLessThan(2 * 17);
});

test('a block of nothing but bad lines is no accident: nothing is quarantined', async () => {
  const { warehouse } = rejecting('bad\n');
  const given = Array.from({ length: 1_100 }, () => Buffer.from('bad\n'));
  await expect(findRejectedLines(warehouse, given)).rejects.toMatchObject({ code: 'too_many_refused' });
});

/** The fault under test: a warehouse that rejects a line. */
function rejecting(bad: string): { warehouse: Pick<Warehouse, 'accepts'>; requested: () => number } {
  let requested = 0;
  const accepts = async (bytes: Buffer) => {
    requested += 1;
    return !bytes.includes(bad);
  };
  return { warehouse: { accepts }, requested: () => requested };
}
