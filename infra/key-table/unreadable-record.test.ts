import { readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RECORD_WORDS } from '../../schemas/stored/record.ts';
import { onceKeysAreRead } from '../../tests/support/once-keys-are-read.ts';
import { OUTCOME } from '../ports/idempotency-store.ts';
import { batchOf, keysOfThisTest, randomRecords } from './keys-under-test.ts';

// Red when claims made before the failure stay: a retry gets `duplicate`, and its event is lost.
it('keys claimed together with one that cannot be read are free, and what follows is in order', async () => {
  const keys = await keysOfThisTest();
  const old = randomRecords(1);
  await keys.commit(old.slice());
  await keys.restart('clean');
  const directory = join(keys.folder(), 'keys');
  const [sealed = ''] = readdirSync(directory).filter((name) => name.endsWith('.sealed'));
  truncateSync(join(directory, sealed), 100);

  // So many that the old one is looked for when others are claimed: a claim goes in pieces.
  const fresh = randomRecords(200);
  const unreadable = { name: 'Fatal', code: 'record_file_truncated' };
  const withOld = batchOf(Uint32Array.from([...fresh, ...old]));
  await expect(onceKeysAreRead(() => keys.store().claim(withOld))).rejects.toMatchObject(unreadable);
  const again = batchOf(fresh.slice(0, 2 * RECORD_WORDS));
  const claim = await onceKeysAreRead(() => keys.store().claim(again));
  expect([claim.created, claim.waits, ...again.outcomes]).toEqual([2, false, CREATED, CREATED]);
  await keys.store().confirm([claim], await keys.write(new Uint8Array(again.records.buffer)));
  const repeated = batchOf(again.records.slice());
  expect(await onceKeysAreRead(() => keys.store().claim(repeated))).toMatchObject({
    created: 0,
    waits: false,
  });
  expect([...repeated.outcomes]).toEqual([OUTCOME.duplicate, OUTCOME.duplicate]);
});

const CREATED = OUTCOME.created;
