import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testFrame } from '../ports/conformance/event-log.ts';
import { type TestLog, testLog } from './log-under-test.ts';
import { openSegmentLogReader } from './reader.ts';
import type { OpenFile } from './segment-appender.ts';
import { BLOCK_BYTES, encodeSegmentHeader, segmentName } from './segment-file.ts';
import { FORMS, openFileIn } from './write-form-under-test.ts';

const LOG_ID = Buffer.alloc(16, 7);

/** Logs of the release before: segments of version 1, whose frames lie back to back. */
describe.each(FORMS)('a log of the release before, written %s', (form) => {
  it('is read as it is, and continues in a new segment', async () => {
    const { log, frames, end } = earlierLog([3, 2]);
    const writer = await log.open();
    expect(writer.extent()).toEqual({ start: 0, end });
    const outcome = await writer.append(testFrame(LOG_ID, 6_000));
    expect(outcome).toEqual({ status: 'durable', position: end, end: end + 2 * BLOCK_BYTES });
    await writer.close();
    expect(segmentsOf(log)).toEqual([0, spanOf(frames.slice(0, 3)), end]);
    const reader = await openSegmentLogReader(log);
    onTestFinished(() => reader.close());
    const read = await reader.read(0, 0, 1e6);
    const expected = [...frames, Buffer.concat(testFrame(LOG_ID, 6_000))];
    expect(read.map(({ bytes }) => bytes.length)).toEqual(expected.map(({ length }) => length));
    expect(read.slice(0, 5).map(({ bytes }) => bytes)).toEqual(frames);
    // Each start finds the segments of both versions whole.
    await log.fill(10);
    expect(await log.spans()).toHaveLength(7);
  });

  // Mutant it catches: the segments of version 2 made under a log.json that the release before accepts.
  it('is a log of this version before the first segment of today is there', async () => {
    const { log } = earlierLog([1]);
    const versions: number[] = [];
    const openFile: OpenFile = (path, flags, mode) => {
      versions.push(JSON.parse(readFileSync(join(log.directory, 'log.json'), 'utf8')).version);
      return openFileIn(form)(path, flags, mode);
    };
    const writer = await log.open({ openFile });
    expect(versions).toEqual([1]);
    await writer.append(testFrame(LOG_ID, 10));
    expect(new Set(versions.slice(1))).toEqual(new Set([3]));
  });

  // Mutant it catches: frames of version 3 in a segment whose release would stop at them.
  it('is a log of this version before the first frame of today is in its last segment', async () => {
    const log = testLog(1e6, form);
    await log.fill(10);
    const path = join(log.directory, 'log.json');
    const versionNow = () => JSON.parse(readFileSync(path, 'utf8')).version;
    writeFileSync(path, readFileSync(path, 'utf8').replace('"version":3', '"version":2'));
    const versions: number[] = [];
    const openFile: OpenFile = async (...opening) => {
      const file = await openFileIn(form)(...opening);
      const writev = file.writev.bind(file);
      return Object.assign(file, {
        writev: (...writing: Parameters<typeof writev>) => {
          versions.push(versionNow());
          return writev(...writing);
        },
      });
    };
    const writer = await log.open({ openFile });
    expect(versionNow()).toBe(2);
    await writer.append(testFrame(LOG_ID, 10));
    expect(versions).toEqual([3]);
    expect(segmentsOf(log)).toEqual([0]);
  });

  // Red when its unconfirmed tail is padded, or begins in the middle of a block: that is no segment any more.
  it('loses a torn frame, and its unconfirmed one is written again where it is', async () => {
    const { log, end } = earlierLog([2]);
    const frame = Buffer.concat(testFrame(LOG_ID, 30));
    appendFileSync(log.segment(), Buffer.concat([frame, frame.subarray(0, 90)]));
    const after = end + frame.length;
    const writer = await log.open();
    expect(writer.extent().end).toBe(after);
    expect(readFileSync(log.segment())).toHaveLength(40 + after);
    await writer.append(testFrame(LOG_ID, 10));
    expect((await log.spans()).slice(-2)).toEqual([
      [end, after],
      [after, after + BLOCK_BYTES],
    ]);
  });

  it('stays as it is when there is no room for a new segment', async () => {
    const { log, end } = earlierLog([2]);
    let isFull = true;
    const writer = await log.open({
      openFile: async (path, flags, mode) => {
        if (isFull && path !== log.segment(0)) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
        return await openFileIn(form)(path, flags, mode);
      },
    });
    const before = readFileSync(log.segment());
    expect(await writer.append(testFrame(LOG_ID, 10))).toEqual({ status: 'no_space' });
    expect(segmentsOf(log)).toEqual([0]);
    expect(readFileSync(log.segment())).toEqual(before);
    isFull = false;
    expect(await writer.append(testFrame(LOG_ID, 10))).toMatchObject({ position: end });
  });

  it('has its last segment made again when no frame is in it', async () => {
    const { log, end } = earlierLog([2, 0]);
    expect(await log.fill(10)).toBe(end + BLOCK_BYTES);
    expect(segmentsOf(log)).toEqual([0, end]);
    expect(await log.spans()).toHaveLength(3);
  });

  // Red when frames behind a damaged header count as the padding of a header of today.
  it('is rejected with a damaged header, however short it is', async () => {
    const { log } = earlierLog([1]);
    const content = readFileSync(log.segment());
    content[3] = (content[3] ?? 0) ^ 1;
    writeFileSync(log.segment(), content);
    await expect(log.open()).rejects.toMatchObject({ code: 'frame_damaged' });
    expect(readFileSync(log.segment())).toEqual(content);
  });

  it('gives up its segments as those of today', async () => {
    const { log, end } = earlierLog([2, 2]);
    const writer = await log.open();
    await writer.append(testFrame(LOG_ID, 10));
    await writer.trim(end);
    expect(segmentsOf(log)).toEqual([end]);
  });

  function earlierLog(segments: number[]) {
    const log = testLog(1e6, form);
    return { log, ...writeEarlierLog(log, segments) };
  }
});

/** As many frames in each segment; none of them was published. */
function writeEarlierLog({ directory }: TestLog, segments: number[]): { frames: Buffer[]; end: number } {
  const ids = { logId: LOG_ID.toString('hex'), identityCheck: '01'.repeat(16) };
  writeFileSync(join(directory, 'log.json'), `${JSON.stringify({ version: 1, ...ids })}\n`);
  const frames: Buffer[] = [];
  for (const count of segments) {
    const base = spanOf(frames);
    const place = { path: join(directory, segmentName(base)), base, logId: LOG_ID };
    const own = Array.from({ length: count }, (_, at) => Buffer.concat(testFrame(LOG_ID, at * 70)));
    writeFileSync(place.path, Buffer.concat([encodeSegmentHeader(place, 1), ...own]));
    frames.push(...own);
  }
  return { frames, end: spanOf(frames) };
}

function spanOf(frames: Buffer[]): number {
  return frames.reduce((sum, { length }) => sum + length, 0);
}

function segmentsOf({ directory }: TestLog): number[] {
  const names = readdirSync(directory).filter((name) => name.endsWith('.seg'));
  return names.sort().map((name) => Number(name.slice(0, 20)));
}
