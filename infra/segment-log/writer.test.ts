import { readdirSync, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../tests/support/deferred.ts';
import { testFrame } from '../ports/conformance/event-log.ts';
import type { EventLogWriter } from '../ports/event-log.ts';
import { testLog } from './log-under-test.ts';
import { openSegmentLogReader } from './reader.ts';
import type { OpenFile } from './segment-appender.ts';
import { BLOCK_BYTES } from './segment-file.ts';
import { FORMS, type Form, openFileIn } from './write-form-under-test.ts';

describe.each(FORMS)('a write %s that the disk does not take', (form) => {
  it('is taken back when the disk is full, and the next one takes its place', async () => {
    const { log, disk, writer } = await logOnFaultyDisk(form);
    const { end } = await append(writer, 100);
    const size = statSync(log.segment()).size;
    for (const code of ['ENOSPC', 'EDQUOT']) {
      disk.failNextWrite(code);
      expect(await writer.append(testFrame(writer.logId, 5_000))).toEqual({ status: 'no_space' });
      expect(statSync(log.segment()).size).toBe(size);
    }
    expect((await append(writer, 200)).position).toBe(end);
    expect(await log.spans()).toHaveLength(2);
  });

  it('leaves the log whole when there is no room for a new segment', async () => {
    const { log, disk, writer } = await logOnFaultyDisk(form, 10_000);
    await append(writer, 200);
    const files = readdirSync(log.directory);
    disk.failNextWrite('ENOSPC');
    expect(await writer.append(testFrame(writer.logId, 6_000))).toEqual({ status: 'no_space' });
    expect(readdirSync(log.directory)).toEqual(files);
    await append(writer, 10);
    await append(writer, 6_000);
    await writer.close();
    await log.fill(100);
    expect(await log.spans()).toHaveLength(4);
  });

  // Mutant it catches: continuing after EIO, when the page cache holds what the disk does not.
  it('ends the writer for good on any other error', async () => {
    const { log, disk, writer } = await logOnFaultyDisk(form);
    await append(writer, 100);
    disk.failNextWrite('EIO');
    const broken = { name: 'Fatal', code: 'log_write_failed' };
    await expect(writer.append(testFrame(writer.logId, 100))).rejects.toMatchObject(broken);
    await expect(writer.append(testFrame(writer.logId, 100))).rejects.toMatchObject(broken);
    expect(await log.spans()).toHaveLength(1);
  });

  it('is continued when the disk took a part of it', async () => {
    const { log, disk, writer } = await logOnFaultyDisk(form);
    disk.takeAtMost(form === FORMS[0] ? BLOCK_BYTES : 997);
    await append(writer, 10_000);
    await append(writer, 20);
    expect(await log.spans()).toHaveLength(2);
  });
});

describe.each(FORMS)('the durable end of a log written %s', (form) => {
  // Mutant it catches: the end published before the write.
  it('stays where it is until the write has returned', async () => {
    const { log, disk, writer } = await logOnFaultyDisk(form);
    const { end } = await append(writer, 100);
    const reader = await openSegmentLogReader({ directory: log.directory });
    const held = disk.holdNextWrite();
    const appending = append(writer, 100);
    await held.written;
    expect(await reader.durableEnd(0)).toBe(end);
    expect(await reader.read(0, end, 1e6)).toEqual([]);
    held.release();
    const after = await appending;
    expect(await reader.durableEnd(0)).toBe(after.end);
    await reader.close();
  });
});

async function logOnFaultyDisk(form: Form, segmentBytesMax?: number) {
  const [log, disk] = [testLog(segmentBytesMax, form), faultyDisk(form)];
  return { log, disk, writer: await log.open({ openFile: disk.openFile }) };
}

async function append(writer: EventLogWriter, linesBytes: number) {
  const outcome = await writer.append(testFrame(writer.logId, linesBytes));
  if (outcome.status !== 'durable') throw new Error(`The append ended with ${outcome.status}.`);
  return outcome;
}

/** Real files whose next write fails half-way, takes a part only, or returns late. */
function faultyDisk(form: Form) {
  let fault: string | undefined;
  let bytesMax = Number.POSITIVE_INFINITY;
  let onWritten: (() => Promise<void>) | undefined;

  const openFile: OpenFile = async (path, flags, mode) => {
    const file = await openFileIn(form)(path, flags, mode);
    const writev = file.writev.bind(file);
    const faulty: FileHandle['writev'] = async (pieces, position) => {
      const [bytes] = pieces as unknown as [Uint8Array];
      const code = fault;
      fault = undefined;
      if (code !== undefined) {
        // Past the page cache a disk takes whole blocks.
        const half = Math.ceil(bytes.length / BLOCK_BYTES / 2) * BLOCK_BYTES;
        await writev([bytes.subarray(0, form === FORMS[0] ? half : half - 100)], position);
        throw Object.assign(new Error(code), { code });
      }
      const result = await writev([bytes.subarray(0, bytesMax)], position);
      const hold = onWritten;
      onWritten = undefined;
      await hold?.();
      return { ...result, buffers: pieces };
    };
    return Object.assign(file, { writev: faulty });
  };

  return {
    openFile,
    failNextWrite: (code: string) => {
      fault = code;
    },
    takeAtMost: (bytes: number) => {
      bytesMax = bytes;
    },
    holdNextWrite() {
      const [written, released] = [deferred<void>(), deferred<void>()];
      onWritten = () => {
        written.resolve();
        return released.promise;
      };
      return { written: written.promise, release: released.resolve };
    },
  };
}
