import { existsSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Fatal } from '../../schemas/failures.ts';
import { RECORD_BYTES, RECORD_WORDS } from '../../schemas/stored/record.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { FormerKeys } from './former-keys.ts';
import { isNewerForFormer, writeFormerKeys } from './former-keys-under-test.ts';
import { openRecordFile } from './former-record-file.ts';
import { Generations } from './generations.ts';
import { KeyFolder, sealedNumbers } from './key-folder.ts';
import { KeyMemory } from './key-memory.ts';
import { KeyUpkeep } from './key-upkeep.ts';
import { expectAllKnown, keysOfThisTest, randomRecords, type TestKeys } from './keys-under-test.ts';
import { type FormerRecords, NO_KEYS, readManifest } from './manifest.ts';
import { SealedFiles } from './sealed-files.ts';
import { takeOver } from './take-over.ts';

const KEYS = 1_000;

describe('keys of the release before', () => {
  // Red when a part that is taken over counts for more, or for less; when the rest is not looked at
  // meanwhile.
  it('are all known throughout, whenever it is killed', async () => {
    const { keys, records } = await formerKeys();
    await keys.open();
    for (let life = 0; existsSync(recordsPath(keys)); life++) {
      const before = readFileSync(checkpointPath(keys));
      expect(keys.store().keyCount).toBe(KEYS);
      await expectAllKnown(keys, records);
      expect(life).toBeLessThanOrEqual(KEYS / 128);
      await expect.poll(() => readFileSync(checkpointPath(keys)).equals(before)).toBe(false);
      await keys.restart('killed');
    }
    await expectAllKnown(keys, records);
    await keys.restart('killed');
    expect(keys.store().keyCount).toBe(KEYS);
    await expectAllKnown(keys, records);
  });

  it('are in sealed files by and by, while new ones are taken', async () => {
    const { keys, records } = await formerKeys();
    await keys.open();
    const added: Uint32Array[] = [];
    while (existsSync(recordsPath(keys))) {
      const fresh = randomRecords(10);
      await keys.commit(fresh.slice());
      added.push(fresh);
    }
    await keys.restart('clean');
    expect(keys.store().keyCount).toBe(KEYS + added.length * 10);
    for (const one of [records, ...added]) await expectAllKnown(keys, one);
  });

  // Red when the manifest is no checkpoint of a newer version to it: it would begin from what is left.
  it('are rejected by that release from the first start on', async () => {
    const { keys } = await formerKeys();
    const checkpoint = () => readFileSync(checkpointPath(keys));
    expect(isNewerForFormer(checkpoint())).toBe(false);
    await keys.open();
    expect(isNewerForFormer(checkpoint())).toBe(true);
    await keys.restart('clean');
    expect(isNewerForFormer(checkpoint())).toBe(true);
  });

  // Red when they are taken over as far as the space goes: the disk is full then, and usage rejected.
  it('stay in their file while the disk has no room for all of them twice', async () => {
    let free = KEYS * RECORD_BYTES * 2 - 1;
    const { directory, takingOver } = await takingOverOf(async () => free);
    takingOver.start();
    await delay(200);
    expect(sealedNumbers(directory)).toEqual([]);
    free += 1;
    await expect.poll(() => existsSync(join(directory, 'records')), { timeout: 5_000 }).toBe(false);
  });

  // Red when it is only logged: usage would be taken on while nothing is trusted of the keys' files.
  it('end the upkeep of all, and so the process, where a part of them cannot be taken over', async () => {
    const { folder, takingOver, upkeep } = await takingOverOf();
    folder.change = async () => {
      throw new Fatal('file_not_durable', 'as a folder whose sync fails');
    };
    takingOver.start();
    const advance = async () => upkeep.advance();
    await expect.poll(() => advance().catch(({ code }) => code)).toBe('file_not_durable');
  });

  it('are made from the log where their file is missing, and rejected where it is not whole', async () => {
    const { keys, records } = await formerKeys();
    truncateSync(recordsPath(keys), 4_000);
    await expect(keys.open()).rejects.toMatchObject({ name: 'Fatal', code: 'record_file_truncated' });
    rmSync(recordsPath(keys));
    await keys.open();
    expect(keys.store().keyCount).toBe(KEYS);
    await expectAllKnown(keys, records);
  });
});

/** Former keys in a folder of their own, and what takes them over. */
async function takingOverOf(freeBytes = async () => 1e9) {
  const [directory, records] = [testFolder(), randomRecords(KEYS)];
  const owner = { identityCheck: Buffer.alloc(16, 1), logId: Buffer.alloc(16, 2) };
  writeFormerKeys(directory, owner, { records: new Uint8Array(records.buffer), logPosition: 1 });
  const memory = new KeyMemory(128);
  const files = new SealedFiles(memory);
  const manifest = readManifest(join(directory, 'checkpoint'), owner) ?? NO_KEYS;
  const folder = new KeyFolder({ directory, owner, memory, files, manifest, freeBytes });
  const file = await openRecordFile(join(directory, 'records'), owner, KEYS);
  const former = await FormerKeys.load(file, manifest.former as FormerRecords);
  const upkeep = new KeyUpkeep({ folder, generations: new Generations(memory, KEYS), log: SILENT });
  const takingOver = takeOver({ folder, upkeep, former, log: SILENT });
  onTestFinished(async () => {
    await takingOver.stop();
    await files.close();
  });
  return { directory, folder, upkeep, takingOver };
}

/** A closed log of as many keys, in the folder with its former files. */
async function formerKeys(): Promise<{ keys: TestKeys; records: Uint32Array }> {
  const keys = await keysOfThisTest();
  const records = randomRecords(KEYS);
  for (let at = 0; at < KEYS; at += 100)
    await keys.commit(records.slice(at * RECORD_WORDS, (at + 100) * RECORD_WORDS));
  const { identityCheck, logReader } = await keys.openingOf();
  const logPosition = await logReader.durableEnd(0);
  await keys.kill();
  const directory = join(keys.folder(), 'keys');
  rmSync(directory, { recursive: true });
  const owner = { identityCheck, logId: logReader.logId };
  writeFormerKeys(directory, owner, { records: new Uint8Array(records.buffer), logPosition });
  return { keys, records };
}

function checkpointPath(keys: TestKeys): string {
  return join(keys.folder(), 'keys', 'checkpoint');
}

function recordsPath(keys: TestKeys): string {
  return join(keys.folder(), 'keys', 'records');
}
