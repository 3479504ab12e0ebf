import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RECORD_WORDS } from '../../schemas/stored/record.ts';
import { type ClaimBatch, OUTCOME } from '../ports/idempotency-store.ts';
import { keysOfThisTest } from './keys-under-test.ts';
import { RECORD_HEADER_BYTES } from './record-file.ts';

// Red when claims made before the failure stay: a retry gets `duplicate`, and its event is lost.
it('keys claimed together with one that cannot be read are free, and what follows is in order', async () => {
  const keys = await keysOfThisTest();
  const old = batchOf(1);
  const claim = await keys.store().claim(old);
  await keys.store().confirm([claim], await keys.write(new Uint8Array(old.records.buffer)));
  await keys.restart('clean');
  truncateSync(join(keys.folder(), 'keys', 'records'), RECORD_HEADER_BYTES);

  const unreadable = { name: 'Fatal', code: 'record_file_truncated' };
  expect(() => keys.store().claim(batchOf(2, 3, 1))).toThrow(expect.objectContaining(unreadable));
  const fresh = batchOf(2, 3);
  const again = await keys.store().claim(fresh);
  expect([again.created, again.waits, ...fresh.outcomes]).toEqual([2, false, CREATED, CREATED]);
  await keys.store().confirm([again], await keys.write(new Uint8Array(fresh.records.buffer)));
  const repeated = batchOf(3, 2);
  expect(await keys.store().claim(repeated)).toMatchObject({ created: 0, waits: false });
  expect([...repeated.outcomes]).toEqual([OUTCOME.duplicate, OUTCOME.duplicate]);
});

const CREATED = OUTCOME.created;

/** Ids with nothing in common, so that only a repeat of the old one has to be compared with it. */
function batchOf(...ids: number[]): ClaimBatch {
  const records = new Uint32Array(ids.length * RECORD_WORDS);
  for (const [item, id] of ids.entries())
    records.set([id * 0x1000_0001, id, id, id, 7, 7], item * RECORD_WORDS);
  return {
    count: ids.length,
    records,
    readOnly: new Uint8Array(ids.length),
    outcomes: new Uint8Array(ids.length),
  };
}
