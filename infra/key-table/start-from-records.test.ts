import { describe, expect, it } from 'vitest';
import { RECORD_WORDS } from '../../schemas/stored/record.ts';
import { OUTCOME } from '../ports/idempotency-store.ts';
import { keysOfThisTest, type TestKeys } from './keys-under-test.ts';
import { openKeyTable } from './open-key-table.ts';

const FRAMES = 5;

describe('a start with sealed files', () => {
  // Mutant it catches: the table rebuilt from the log, which at 10 M keys takes minutes instead of a second.
  it('reads of the log only what they do not hold', async () => {
    const keys = await keysOfThisTest();
    let end = 0;
    for (let key = 1; key <= FRAMES; key++) end = await commitKey(keys, key);
    const opening = await keys.openingOf();
    const readFrom: number[] = [];
    const read: typeof opening.logReader.read = (partition, from, bytesMax) => {
      readFrom.push(from);
      return opening.logReader.read(partition, from, bytesMax);
    };
    const table = await openKeyTable({ ...opening, logReader: { ...opening.logReader, read } });
    expect(table.keyCount).toBe(FRAMES);
    expect(readFrom).toEqual([end]);
    await table.close();
  });
});

async function commitKey(keys: TestKeys, key: number): Promise<number> {
  const records = new Uint32Array(RECORD_WORDS).fill(key);
  const outcomes = new Uint8Array(1);
  const claim = keys.store().claim({ count: 1, records, readOnly: new Uint8Array(1), outcomes });
  expect([...outcomes]).toEqual([OUTCOME.created]);
  const end = await keys.write(new Uint8Array(records.buffer));
  await keys.store().confirm([claim], end);
  return end;
}
