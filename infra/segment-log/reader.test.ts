import { appendFileSync, constants, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';
import { alignedMemory } from '../platform/aligned-memory.ts';
import { testFrame } from '../ports/conformance/event-log.ts';
import type { EventLogReader } from '../ports/event-log.ts';
import { type TestLog, testLog } from './log-under-test.ts';
import { openSegmentLogReader } from './reader.ts';
import type { OpenFile } from './segment-appender.ts';
import { BLOCK_BYTES, segmentName } from './segment-file.ts';
import { FORMS, openFileIn } from './write-form-under-test.ts';

describe('a reader of the segment log', () => {
  it('reports that there is no log before the first writer was there', async () => {
    const opening = openSegmentLogReader({ directory: testFolder() });
    await expect(opening).rejects.toMatchObject({ name: 'Transient', code: 'log_not_there' });
  });

  // Mutant it catches: reading to the end of the file instead of the durable end.
  it('does not read a frame that is in the file and not durable yet', async () => {
    const log = testLog();
    const end = await log.fill(100);
    const reader = await open(log);
    appendFileSync(log.segment(), Buffer.concat(testFrame(reader.logId, 100)));
    expect(await reader.durableEnd(0)).toBe(end);
    expect((await reader.read(0, 0, 1e6)).map(({ next }) => next)).toEqual([end]);
    expect(await reader.read(0, end, 1e6)).toEqual([]);
  });

  it('does not read from a segment that is just being made', async () => {
    const log = testLog();
    const end = await log.fill(100);
    const reader = await open(log);
    writeFileSync(join(log.directory, segmentName(end)), '');
    expect(await reader.read(0, end, 1e6)).toEqual([]);
  });

  it('reads through all segments in one call', async () => {
    const log = testLog(500);
    const end = await log.fill(...Array.from({ length: 40 }, (_, at) => at * 20));
    const frames = await (await open(log)).read(0, 0, 1e6);
    expect(frames).toHaveLength(40);
    expect(frames.at(-1)?.next).toBe(end);
  });

  it('names file and place of a frame that is damaged, and gives none of it', async () => {
    const log = testLog();
    await log.fill(100, 100);
    const reader = await open(log);
    const [first] = await reader.read(0, 0, 1);
    const content = readFileSync(log.segment());
    const second = BLOCK_BYTES + (first?.next ?? 0);
    // A bit of the frame, and one of what pads it.
    for (const at of [second + 100, content.length - 1]) {
      const harmed = Buffer.from(content);
      harmed[at] = (harmed[at] ?? 0) ^ 1;
      writeFileSync(log.segment(), harmed);
      await expect(reader.read(0, first?.next ?? 0, 1e6)).rejects.toMatchObject({
        code: 'frame_damaged',
        message: expect.stringContaining(`${log.segment()} is damaged at byte ${second} (`),
      });
      expect(await reader.read(0, 0, 1)).toHaveLength(1);
    }
  });

  it('rejects a position where no frame begins', async () => {
    const log = testLog();
    await log.fill(100);
    await expect((await open(log)).read(0, 17, 1e6)).rejects.toMatchObject({ code: 'frame_damaged' });
  });

  it('reports that retention removed what is requested', async () => {
    const log = testLog(300);
    await log.fill(100, 100, 100);
    const reader = await open(log);
    const frames = await reader.read(0, 0, 1e6);
    rmSync(log.segment(0));
    await expect(reader.read(0, 0, 1e6)).rejects.toMatchObject({ code: 'log_trimmed' });
    expect(await reader.read(0, frames[1]?.position ?? 0, 1e6)).toHaveLength(2);
  });

  it('waits for a durable end that is being written, and gives up when it stays unreadable', async () => {
    const log = testLog();
    const end = await log.fill(100);
    const reader = await open(log);
    const path = join(log.directory, 'durable-end');
    const whole = readFileSync(path);
    writeFileSync(path, whole.subarray(0, 20));
    const requested = reader.durableEnd(0);
    writeFileSync(path, whole);
    expect(await requested).toBe(end);
    writeFileSync(path, whole.subarray(0, 20));
    await expect(reader.durableEnd(0)).rejects.toMatchObject({ code: 'durable_end_unreadable' });
  });
});

// Red when what is on the disk alone is read through the page cache, or not at all where nothing may pass it.
it.each(FORMS)('into aligned memory whole blocks are read %s, and other frames through it', async (form) => {
  const log = testLog(1e6, form);
  await log.fill(5_000, 100);
  const opened: boolean[] = [];
  const openFile: OpenFile = (path, flags, mode) => {
    opened.push((flags & constants.O_DIRECT) !== 0);
    return openFileIn(form)(path, flags, mode);
  };
  const reader = await openSegmentLogReader({ directory: log.directory, openFile });
  onTestFinished(() => reader.close());
  const aligned = { take: (bytes: number) => alignedMemory(bytes).subarray(0, bytes) };
  const reads = [await reader.read(0, 0, 1e6), await reader.read(0, 0, 1e6, aligned)];
  reads.push(await reader.read(0, 0, 1e6, aligned));
  for (const frames of reads) expect(frames).toEqual(reads[0]);
  const [, , ...again] = opened;
  expect(opened.slice(0, 2)).toEqual([false, false]);
  expect(again).toEqual(form === FORMS[0] ? [true, true] : [true, false, false]);
});

async function open({ directory }: TestLog): Promise<EventLogReader> {
  const reader = await openSegmentLogReader({ directory });
  onTestFinished(() => reader.close());
  return reader;
}
