import { randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFrame } from '../ports/conformance/event-log.ts';
import { type TestLog, testLog } from './log-under-test.ts';
import type { OpenFile } from './segment-appender.ts';
import {
  BLOCK_BYTES,
  encodeSegmentHeader,
  paddedTo,
  SEGMENT_HEADER_BYTES,
  segmentName,
} from './segment-file.ts';
import { FORMS, openFileIn } from './write-form-under-test.ts';

describe.each(FORMS)('a log whose process died in the middle of a write %s', (form) => {
  it('drops what was written of the frame, wherever it was cut, and continues in its place', async () => {
    const log = testLog(1e6, form);
    const end = await log.fill(100, 50);
    const { length: frameBytes } = Buffer.concat(testFrame(await logIdOf(log), 30));
    const frame = await paddedFrame(log, 30);
    const cuts = Array.from({ length: frameBytes / 5 }, (_, at) => at * 5 + 1);
    for (const bytes of [...cuts, frameBytes, frameBytes + 1, frame.length - 1]) {
      appendFileSync(log.segment(), frame.subarray(0, bytes));
      const writer = await log.open();
      await writer.close();
      expect(readFileSync(log.segment()).length).toBe(BLOCK_BYTES + end);
    }
    const after = await log.fill(70);
    expect((await log.spans()).at(-1)).toEqual([end, after]);
  });

  // Mutant it catches: a frame taken for whole whose last blocks were written in part.
  it('drops a tail of any bytes that is no frame with its padding', async () => {
    const log = testLog(1e6, form);
    const end = await log.fill(100, 50);
    const torn = await paddedFrame(log, 5_000);
    torn.fill('x', torn.length - 512);
    for (const rest of [torn, Buffer.alloc(5_000), randomBytes(5_000), Buffer.from('MGFR')]) {
      appendFileSync(log.segment(), rest);
      expect(await log.fill()).toBe(0);
      expect((await log.spans()).at(-1)?.[1]).toBe(end);
    }
  });

  it('keeps a whole frame that was never confirmed', async () => {
    const log = testLog(1e6, form);
    const end = await log.fill(100);
    const frame = await paddedFrame(log, 30);
    appendFileSync(log.segment(), frame);
    await log.fill();
    expect(await log.spans()).toEqual([
      [0, end],
      [end, end + frame.length],
    ]);
  });

  // Red when the bytes read there are trusted: a failed write may have left them in memory alone.
  it('writes the unconfirmed frame once more, and nothing else', async () => {
    const log = testLog(1e6, form);
    const end = await log.fill(100, 50);
    const frame = await paddedFrame(log, 30);
    appendFileSync(log.segment(), frame);
    const written: Array<[from: number, bytes: string]> = [];
    const openFile: OpenFile = async (path, flags, mode) => {
      const file = await openFileIn(form)(path, flags, mode);
      const writev = file.writev.bind(file);
      file.writev = ((pieces: Uint8Array[], at: number) => {
        written.push([at, Buffer.concat(pieces).toString('hex')]);
        return writev(pieces, at);
      }) as typeof file.writev;
      return file;
    };
    for (const expected of [[[BLOCK_BYTES + end, frame.toString('hex')]], []]) {
      written.length = 0;
      await (await log.open({ openFile })).close();
      expect(written).toEqual(expected);
    }
    expect((await log.spans()).at(-1)).toEqual([end, end + frame.length]);
  });

  it('opens when the newest segment has no header yet, or a part of it, or nothing behind it', async () => {
    const log = testLog(300, form);
    let end = await log.fill(100);
    const logId = await logIdOf(log);
    for (let bytes = 0; bytes <= SEGMENT_HEADER_BYTES; bytes += 4) {
      const place = { path: join(log.directory, segmentName(end)), base: end, logId };
      writeFileSync(place.path, encodeSegmentHeader(place).subarray(0, bytes));
      const after = await log.fill(100);
      expect((await log.spans()).at(-1)).toEqual([end, after]);
      expect(log.segment()).toBe(place.path);
      end = after;
    }
  });

  it('opens when the durable end was lost, torn, or is an older one', async () => {
    const log = testLog();
    await log.fill(100);
    const path = join(log.directory, 'durable-end');
    const older = readFileSync(path);
    const end = await log.fill(100);
    for (const left of [older, older.subarray(0, 9), Buffer.alloc(32), Buffer.alloc(0)]) {
      writeFileSync(path, left);
      await log.fill();
      expect((await log.spans()).at(-1)?.[1]).toBe(end);
    }
  });
});

describe('a log that is damaged', () => {
  // Mutant it catches: cutting at the first bad frame, which would lose every confirmed one behind it.
  it('is rejected when sound frames are behind the bad one, and nothing of it is changed', async () => {
    const log = testLog();
    await log.fill(100, 100, 100);
    rmSync(join(log.directory, 'durable-end'));
    const [, second] = await damageFrame(log, 1);
    const before = readFileSync(log.segment());
    await expect(log.open()).rejects.toMatchObject({
      code: 'frame_damaged',
      message: expect.stringMatching(new RegExp(`^${log.segment()} is damaged at byte ${second}: `)),
    });
    expect(readFileSync(log.segment())).toEqual(before);
  });

  it('is rejected when its last frame was durable once, damaged or cut', async () => {
    for (const harm of [(log: TestLog) => damageFrame(log, 1), (log: TestLog) => cutBytes(log, 10)]) {
      const log = testLog();
      await log.fill(100, 100);
      await harm(log);
      await expect(log.open()).rejects.toMatchObject({ code: 'frame_damaged' });
    }
  });

  // Red when only its own folder is checked: events acknowledged from then on are never counted.
  it('is rejected when it ends before what was counted, as one that is older than the database', async () => {
    const log = testLog();
    const end = await log.fill(100, 100);
    await log.open({ countedEnd: end }).then((writer) => writer.close());
    const before = readFileSync(log.segment());
    appendFileSync(log.segment(), Buffer.alloc(50));
    await expect(log.open({ countedEnd: end + 1 })).rejects.toMatchObject({
      code: 'frame_damaged',
      message: expect.stringContaining(`durable up to ${end + 1}. Restore it from a backup that is no older`),
    });
    expect(readFileSync(log.segment())).toEqual(Buffer.concat([before, Buffer.alloc(50)]));
  });

  it('is rejected when a segment is missing, shorter, of another place or of another log', async () => {
    const other = testLog(300);
    await other.fill(100);
    const harms: Array<(log: TestLog) => unknown> = [
      (log) => rmSync(log.segment(1)),
      (log) => rmSync(log.segment()),
      (log) => truncateSync(log.segment(1), 100),
      (log) => renameSync(log.segment(1), log.segment()),
      (log) => writeFileSync(log.segment(), readFileSync(other.segment())),
      (log) => writeFileSync(log.segment(), Buffer.alloc(200)),
    ];
    for (const harm of harms) {
      const log = testLog(300);
      await log.fill(100, 100, 100, 100);
      harm(log);
      await expect(log.open(), harm.toString()).rejects.toMatchObject({ code: 'frame_damaged' });
    }
  });

  it('is rejected when it contains frames of another log', async () => {
    const log = testLog();
    await log.fill(100);
    const foreign = Buffer.concat(testFrame(randomBytes(16), 30));
    appendFileSync(log.segment(), Buffer.concat([foreign], BLOCK_BYTES));
    await expect(log.open()).rejects.toMatchObject({ code: 'frame_damaged' });
  });
});

describe('log.json', () => {
  it('keeps a log from being opened under another identity key', async () => {
    const log = testLog();
    await log.fill(100);
    const opening = log.open({ identityCheck: Buffer.alloc(16, 2) });
    await expect(opening).rejects.toMatchObject({ code: 'identity_key_mismatch' });
  });

  it('of a newer version, damaged, or lost while there are segments, is rejected', async () => {
    const log = testLog();
    await log.fill(100);
    const path = join(log.directory, 'log.json');
    const fields = JSON.parse(readFileSync(path, 'utf8'));
    const cases: Array<[string, string | undefined]> = [
      ['log_version_newer', JSON.stringify({ ...fields, version: 99 })],
      ['log_identity_damaged', JSON.stringify({ ...fields, logId: 'ff' })],
      ['log_identity_damaged', '{"version":1'],
      ['log_identity_damaged', 'null'],
      ['log_identity_damaged', undefined],
    ];
    for (const [code, text] of cases) {
      if (text === undefined) rmSync(path);
      else writeFileSync(path, text);
      await expect(log.open()).rejects.toMatchObject({ code });
    }
  });
});

async function logIdOf(log: TestLog): Promise<Uint8Array> {
  const { logId } = JSON.parse(readFileSync(join(log.directory, 'log.json'), 'utf8'));
  return Buffer.from(logId, 'hex');
}

/** The bytes of a frame in a segment. */
async function paddedFrame(log: TestLog, linesBytes: number): Promise<Buffer> {
  const frame = Buffer.concat(testFrame(await logIdOf(log), linesBytes));
  return Buffer.concat([frame], paddedTo(BLOCK_BYTES, frame.length));
}

/** Flips a bit in the middle of a frame of the newest segment; returns the file offsets of the frame. */
async function damageFrame(log: TestLog, nth: number): Promise<[number, number]> {
  const content = readFileSync(log.segment());
  let at = BLOCK_BYTES;
  for (let frame = 0; frame < nth; frame++) at += paddedTo(BLOCK_BYTES, content.readUInt32LE(at + 8));
  content[at + 90] = (content[at + 90] ?? 0) ^ 1;
  writeFileSync(log.segment(), content);
  return [at + 90, at];
}

async function cutBytes(log: TestLog, bytes: number): Promise<void> {
  truncateSync(log.segment(), readFileSync(log.segment()).length - bytes);
}
