import { readdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Fatal } from '../../schemas/failures.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { piecesOf } from './generations.ts';
import type { OpenFile } from './key-files.ts';
import { sealedNumbers } from './key-folder.ts';
import type { KeyUpkeepDeps } from './key-upkeep.ts';
import { batchOf, expectAllKnown, keysOfThisTest, randomRecords } from './keys-under-test.ts';
import { SMALL } from './sealed-files.ts';
import { addKeys, GENERATION_KEYS, upkeepOfThisTest } from './upkeep-under-test.ts';

describe('the upkeep of keys', () => {
  it('a generation that is full is found in its file, at once and after a kill', async () => {
    const keys = await keysOfThisTest();
    const records = Array.from({ length: 20 }, () => randomRecords(100));
    for (const one of records) await keys.commit(one.slice());
    const covered = () => keys.store().coveredUpTo();
    await expect.poll(covered).toBeGreaterThan(0);
    for (const one of records) await expectAllKnown(keys, one);
    await keys.restart('killed');
    for (const one of records) await expectAllKnown(keys, one);
  });

  // Red when a failed try leaves its file, or gives the next one another name.
  it('a full disk is waited out; no try leaves a file behind', async () => {
    const { folder, generations, upkeep, failing } = setUp({ code: 'ENOSPC', failures: 2 });
    addKeys(generations, 500);
    generations.confirm(500, 1_000);
    expect(generations.makeRoom(100)).toBe(false);
    upkeep.advance();
    await expect.poll(() => failing.failures, { timeout: 10_000 }).toBe(0);
    await expect.poll(() => generations.makeRoom(100), { timeout: 10_000 }).toBe(true);
    await upkeep.finish();
    const sealed = readdirSync(folder.directory).filter((name) => name.endsWith('.sealed'));
    expect(sealed).toHaveLength(folder.manifest.small.length);
    expect(folder.manifest.logPosition).toBe(1_000);
  });

  // Red when it is waited for: such a start never ended, and said why in a warning each second.
  it('a disk that stays full ends a start', async () => {
    const { generations, upkeep } = setUp({ code: 'ENOSPC', failures: 1e9 }, { openingWaitMs: 0 });
    addKeys(generations, 500);
    generations.confirm(500, 1_000);
    onTestFinished(() => upkeep.finish().catch(() => undefined));
    const failed = vi.fn();
    upkeep.waitForRoom(100).catch(failed);
    const fatal = expect.objectContaining({ name: 'Fatal', code: 'disk_full' });
    await expect.poll(() => failed.mock.calls, { timeout: 5_000 }).toEqual([[fatal]]);
  });

  it('a disk that stays full ends it without the rest: the log has it', async () => {
    const { folder, generations, upkeep } = setUp({ code: 'ENOSPC', failures: 1e9 });
    addKeys(generations, 200);
    generations.confirm(200, 1_000);
    await upkeep.finish();
    expect(folder.manifest).toMatchObject({ small: [], logPosition: 0 });
    expect(readdirSync(folder.directory)).toEqual([]);
  });

  // Red when the position is that of the newest frame: what is not sealed would be missing at the next start.
  it('the manifest has the position that belongs to its keys, however many come meanwhile', async () => {
    const { folder, generations, upkeep } = setUp();
    addKeys(generations, 100);
    generations.confirm(100, 1_000);
    addKeys(generations, 100);
    generations.confirm(150, 2_000);
    upkeep.advance();
    await expect.poll(() => folder.manifest.logPosition).toBe(1_000);
    generations.confirm(200, 3_000);
    await upkeep.finish();
    expect(folder.manifest.logPosition).toBe(3_000);
  });

  it('any other error ends it for good', async () => {
    const { generations, upkeep } = setUp({ code: 'EIO', failures: 1 });
    addKeys(generations, 200);
    generations.confirm(200, 1_000);
    const broken = { name: 'Fatal', code: 'record_file_write_failed' };
    await expect(upkeep.finish()).rejects.toMatchObject(broken);
    expect(() => upkeep.advance()).toThrow(expect.objectContaining(broken));
  });

  // Red when it is tried again: the second one reports success, and the manifest names what is lost.
  it('a sync that fails for want of space is no full disk to be waited out', async () => {
    const { folder, generations, upkeep } = setUp({ code: 'ENOSPC', failures: 1, of: 'sync' });
    addKeys(generations, 200);
    generations.confirm(200, 1_000);
    const broken = { name: 'Fatal', code: 'record_file_write_failed' };
    await expect(upkeep.finish()).rejects.toMatchObject(broken);
    expect(folder.manifest.small).toEqual([]);
  });

  // Red, in that it never ends, when sixteen files are waited for: those of a few hundred thousand keys fill
  // the small index before there are as many, and from then on every new key is rejected.
  it('files of less than half a generation are merged before the small index is full', async () => {
    const { folder, generations, upkeep } = setUp();
    for (let keys = 50; keys < 9_000; keys += 50) {
      addKeys(generations, 50);
      generations.confirm(keys, keys);
      await upkeep.sealNow();
    }
    expect(folder.manifest.large.length).toBeGreaterThan(0);
    await upkeep.finish();
  });

  // Red when nothing tells it from a full disk: new keys are rejected for good soon after.
  it('the log names the limit once the large index is full', async () => {
    const log = Object.assign(Object.create(SILENT), { error: vi.fn() });
    const { folder, generations, upkeep } = setUp(undefined, { log });
    const hasRoom = folder.files.hasRoom.bind(folder.files);
    folder.files.hasRoom = (kind, count) => kind === SMALL && hasRoom(kind, count);
    for (let keys = 128; keys <= 8 * 128; keys += 128) {
      addKeys(generations, 128);
      generations.confirm(keys, keys);
      await upkeep.sealNow();
    }
    const full = { err: expect.objectContaining({ name: 'Transient', code: 'keys_full' }) };
    expect(log.error.mock.calls).toEqual([[full, 'no room to merge files of keys']]);
    await upkeep.finish();
  });

  // Red when the file is removed: a manifest that is in its place all the same names it, and the next start
  // takes the keys for lost.
  it('a file stays when its manifest is in its place and may not be durable', async () => {
    const { folder, generations, upkeep } = setUp();
    const change = folder.change.bind(folder);
    folder.change = async (next) => {
      await change(next);
      throw new Fatal('file_not_durable', 'as a folder whose sync fails');
    };
    addKeys(generations, 200);
    generations.confirm(200, 1_000);
    await expect(upkeep.finish()).rejects.toMatchObject({ name: 'Fatal', code: 'file_not_durable' });
    expect(folder.manifest.small).toHaveLength(1);
    expect(sealedNumbers(folder.directory)).toEqual(folder.manifest.small);
  });

  // Red when a request that has nothing new needs room as well.
  it('what is known is recalled while there is no room for more', async () => {
    const { generations, find } = setUp();
    const records = addKeys(generations, 500);
    const claim = (one: Uint32Array) => {
      return [...piecesOf(batchOf(one), GENERATION_KEYS)].map((piece) => generations.claim(piece, find));
    };
    expect(claim(records.slice(0, 1_000))).toEqual([true]);
    expect(claim(randomRecords(100))).toEqual(['full']);
  });
});

interface Failing {
  code: string;
  /** So many calls from now on fail. */
  failures: number;
  of?: 'write' | 'sync';
}

function setUp(failing: Failing = { code: '', failures: 0 }, more: Partial<KeyUpkeepDeps> = {}) {
  return { failing, ...upkeepOfThisTest({ ...more, openFile: failingFiles(failing) }) };
}

function failingFiles(failing: Failing): OpenFile {
  return async (path, flags, mode) => {
    const file = await open(path, flags, mode);
    const { of = 'write' } = failing;
    const write = file.write.bind(file) as FileHandle['write'];
    const fail = async () => {
      if (failing.failures === 0) return false;
      failing.failures -= 1;
      throw Object.assign(new Error(failing.code), { code: failing.code });
    };
    if (of === 'sync') {
      const sync = file.datasync.bind(file);
      return Object.assign(file, { datasync: async () => ((await fail()) ? undefined : await sync()) });
    }
    const failingWrite = async (...given: Parameters<typeof write>) => {
      await fail();
      return await write(...given);
    };
    return Object.assign(file, { write: failingWrite as FileHandle['write'] });
  };
}
