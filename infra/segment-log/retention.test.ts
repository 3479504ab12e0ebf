import { open, readdir, rm, utimes } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deferred } from '../../tests/support/deferred.ts';
import { testFrame } from '../ports/conformance/event-log.ts';
import { testLog } from './log-under-test.ts';
import { openSegmentLogReader } from './reader.ts';

const FRAMES = Array.from({ length: 12 }, () => 200);

describe('a segment', () => {
  it('is as old as its last write, and the oldest decides', async () => {
    const log = testLog(500);
    await log.fill(...FRAMES);
    const writer = await log.open();
    const bases = await segmentBases(log.directory);
    expect(bases.length).toBeGreaterThan(4);
    for (const at of [0, 1, 3]) await utimes(log.segment(at), 1_000, 1_000);
    expect(await writer.writtenBefore(1_000_000)).toBe(0);
    expect(await writer.writtenBefore(1_000_001)).toBe(bases[2]);
    await writer.trim(await writer.writtenBefore(1_000_001));
    expect(await segmentBases(log.directory)).toEqual(bases.slice(2));
    await writer.close();
  });

  // Mutant it catches: giving up everything settled, also the segment that is being written.
  it('that is written stays, also while the next one is being made and finds no room', async () => {
    const log = testLog(500);
    await log.fill(...FRAMES);
    const current = log.segment();
    const [making, noRoom] = [deferred<void>(), deferred<void>()];
    const writer = await log.open({
      openFile: async (path, flags, mode) => {
        const file = await open(path, flags, mode);
        if (path === current) return file;
        await file.close();
        making.resolve();
        await noRoom.promise;
        await rm(path);
        throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
      },
    });
    const appending = writer.append(testFrame(writer.logId, 400));
    await making.promise;
    await writer.trim(writer.extent().end + 1_000);
    noRoom.resolve();
    expect(await appending).toEqual({ status: 'no_space' });
    expect(log.segment(0)).toBe(current);
  });

  it('is removed from the front only when a crash came in the middle, and the log opens', async () => {
    const log = testLog(500);
    const end = await log.fill(...FRAMES);
    await rm(log.segment(0));
    const writer = await log.open();
    expect(writer.extent()).toEqual({ start: (await segmentBases(log.directory))[0], end });
    await writer.trim(end);
    expect(await segmentBases(log.directory)).toHaveLength(1);
  });
});

// Mutant it catches: bytes of a deleted file taken for frames, or its end for damage.
it('a reader that is overtaken gives true frames or reports that they are removed', async () => {
  const log = testLog(2_000);
  await log.fill(...Array.from({ length: 300 }, () => 300));
  const all = await log.spans();
  const writer = await log.open();
  const reader = await openSegmentLogReader({ directory: log.directory });
  onTestFinished(() => reader.close());
  const outcomes = new Set<string>();
  for (let at = 0; at < all.length; at += 10) {
    const position = all[at]?.[0] ?? 0;
    const reading = reader.read(0, position, 1e6).then(
      (frames) => frames.map((frame) => [frame.position, frame.next]),
      (error: { code: string }) => error.code,
    );
    await writer.trim(all[at + 9]?.[1] ?? 0);
    const found = await reading;
    outcomes.add(typeof found === 'string' ? found : 'frames');
    if (typeof found !== 'string') expect(found).toEqual(all.slice(at, at + found.length));
  }
  expect([...outcomes].filter((one) => one !== 'frames' && one !== 'log_trimmed')).toEqual([]);
  // Otherwise nothing was given up, and no reader overtaken.
  await expect(reader.read(0, 0, 1e6)).rejects.toMatchObject({ code: 'log_trimmed' });
});

async function segmentBases(directory: string): Promise<number[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.seg')).sort();
  return names.map((name) => Number(name.slice(0, 20)));
}
