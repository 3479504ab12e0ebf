import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RECORD_WORDS } from '../../schemas/stored/record.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { NO_RECORDS, openCheckpointFile } from './checkpoint-file.ts';
import { RecentRecords } from './recent-records.ts';
import { RECORD_HEADER_BYTES } from './record-file.ts';
import { createRecordFileEnd } from './record-file-end.ts';
import { createRecordWriter } from './record-writer.ts';

describe('the record writer', () => {
  it('writes and checkpoints everything when it is finished', async () => {
    const { writer, recent, path, checkpoint } = await setUp();
    add(recent, 5);
    await writer.advance(5, 1_000);
    await writer.finish();
    expect((await checkpoint())?.recordCount).toBe(5);
    expect((await checkpoint())?.logPosition).toBe(1_000);
    const file = await open(path);
    expect((await file.stat()).size).toBe(RECORD_HEADER_BYTES + 5 * 40);
    await file.close();
  });

  // Mutant it catches: a checkpoint with the position of records that it does not cover.
  it('checkpoints the position that belongs to its records, however many come meanwhile', async () => {
    const { writer, recent, checkpoint } = await setUp();
    add(recent, 280_000);
    writer.advance(270_000, 1_000);
    writer.advance(280_000, 2_000);
    const covered = { recordCount: 270_000, logPosition: 1_000 };
    await expect.poll(checkpoint, { timeout: 10_000 }).toMatchObject(covered);
    await writer.finish();
    expect(await checkpoint()).toMatchObject({ recordCount: 280_000, logPosition: 2_000 });
  });

  it('waits out a full disk and loses nothing', async () => {
    const disk = { code: 'ENOSPC', failures: 1 };
    const { writer, recent, checkpoint } = await setUp(disk);
    add(recent, 10_000);
    writer.advance(10_000, 1_000);
    await expect.poll(() => disk.failures, { timeout: 10_000 }).toBe(0);
    await writer.finish();
    expect((await checkpoint())?.recordCount).toBe(10_000);
  });

  it('ends without the rest when the disk stays full: the log has it', async () => {
    const { writer, recent, checkpoint } = await setUp({ code: 'ENOSPC', failures: 1e9 });
    add(recent, 10_000);
    writer.advance(10_000, 1_000);
    await writer.finish();
    expect(await checkpoint()).toBeUndefined();
  });

  // Mutant it catches: a bound without a wait.
  it('makes the next wait while more than a million records are unwritten', async () => {
    const disk = { code: 'ENOSPC', failures: 1 };
    const { writer, recent } = await setUp(disk);
    add(recent, 1_100_000);
    const waiting = writer.advance(1_100_000, 1_000);
    expect(waiting).toBeInstanceOf(Promise);
    await waiting;
    expect(disk.failures).toBe(0);
    expect(writer.advance(1_100_000, 1_000)).toBeUndefined();
    await writer.finish();
  });

  it('fails for good on any other error', async () => {
    const { writer, recent } = await setUp({ code: 'EIO', failures: 1 });
    add(recent, 10_000);
    writer.advance(10_000, 1_000);
    const broken = { name: 'Fatal', code: 'record_file_write_failed' };
    await expect(writer.finish()).rejects.toMatchObject(broken);
    expect(() => writer.advance(10_001, 1_001)).toThrow(expect.objectContaining(broken));
  });
});

// Red when it is tried again: the second one reports success, and the checkpoint promises what is lost.
it('a sync that fails for want of space is no full disk to be waited out', async () => {
  const { writer, recent, file, checkpoint } = await setUp();
  let syncs = 0;
  const sync = file.datasync.bind(file);
  file.datasync = async () => {
    syncs += 1;
    if (syncs === 1) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    await sync();
  };
  add(recent, 10_000);
  writer.advance(10_000, 1_000);
  const broken = { name: 'Fatal', code: 'record_file_write_failed' };
  await expect(writer.finish()).rejects.toMatchObject(broken);
  expect(await checkpoint()).toBeUndefined();
});

/** A writer over real files, whose next writes of records fail as the test says. */
async function setUp(disk = { code: '', failures: 0 }) {
  const folder = testFolder();
  const path = join(folder, 'records');
  const file = await open(path, 'w');
  const write = file.write.bind(file) as (...given: unknown[]) => Promise<{ bytesWritten: number }>;
  const faulty = async (...given: unknown[]) => {
    if (disk.failures === 0) return await write(...given);
    disk.failures--;
    throw Object.assign(new Error(disk.code), { code: disk.code });
  };
  const records = { path, file: Object.assign(file, { write: faulty as FileHandle['write'] }) };
  const checkpoints = await openCheckpointFile(join(folder, 'checkpoint'));
  onTestFinished(async () => {
    await file.close();
    await checkpoints.close();
  });
  const recent = new RecentRecords(0);
  const end = createRecordFileEnd({ records, checkpoints, recent, from: NO_RECORDS });
  return {
    path,
    file,
    recent,
    writer: createRecordWriter({ end, path, log: SILENT }),
    async checkpoint() {
      const again = await openCheckpointFile(join(folder, 'checkpoint'));
      await again.close();
      return again.latest;
    },
  };
}

function add(recent: RecentRecords, count: number): void {
  const words = new Uint32Array(RECORD_WORDS).fill(7);
  for (let record = 0; record < count; record++) recent.append(words, 0);
}
