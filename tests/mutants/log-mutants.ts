import type { Mutant } from './mutant.ts';

/** The segment log and the key table over it. */
export const LOG_MUTANTS: readonly Mutant[] = [
  {
    name: 'dsync-left-out',
    promises: [6],
    why: 'a write returns from the page cache: a power cut takes what was acknowledged',
    module: 'infra/segment-log/segment-appender',
    find: 'constants.O_RDWR | (DSYNC ?? 0);',
    replace: 'constants.O_RDWR;',
    provedBy: [
      {
        test: 'infra/segment-log/segment-appender.test.ts',
        title: 'every segment is opened so that a write returns when it is on the disk',
      },
      {
        test: 'tests/faults/crash-consistency/power-cut.sys.test.ts',
        title: 'acknowledges no event that a power cut can still take',
      },
      {
        test: 'tests/faults/crash-consistency/power-cut.sys.test.ts',
        title: 'finds all that it acknowledged, once, after a power cut at any time',
      },
    ],
  },
  {
    name: 'reader-beyond-the-durable-end',
    promises: [6],
    why: 'a power cut gives positions again that a reader has already loaded',
    module: 'infra/segment-log/reader',
    find: "return createReader({ directory, logId, durableEnd: openDurableEnd(directory, logId, 'read') });",
    replace: `
      const { statSync } = await import('node:fs');
      const notified = openDurableEnd(directory, logId, 'read');
      const read = async () => {
        const base = listSegments(directory).at(-1) ?? 0;
        const { size } = statSync(join(directory, segmentName(base)));
        return base + Math.max(0, size - SEGMENT_HEADER_BYTES);
      };
      return createReader({ directory, logId, durableEnd: { ...notified, read } });`,
    provedBy: [
      {
        test: 'infra/segment-log/reader.test.ts',
        title: 'does not read a frame that is in the file and not durable yet',
      },
    ],
  },
  {
    name: 'end-published-before-the-write',
    promises: [6],
    why: 'a reader loads what a power cut takes back',
    module: 'infra/segment-log/writer',
    find: 'const { file, base, frameBytes } = segment;',
    replace: 'const { file, base, frameBytes } = segment; durableEnd.publish(base + frameBytes + bytes);',
    provedBy: [
      {
        test: 'infra/segment-log/writer.test.ts',
        title: 'stays where it is until the write has returned',
      },
    ],
  },
  {
    name: 'write-error-swallowed',
    promises: [10],
    why: 'a full disk returns 201',
    module: 'infra/segment-log/writer',
    find: 'if (isDiskFull(error)) return false;',
    replace: 'if (isDiskFull(error)) return true;',
    provedBy: [
      {
        test: 'tests/faults/crash-consistency/disk.sys.test.ts',
        title: 'a disk without a byte left takes nothing acknowledged, and all recovers by itself',
        // It is not judged: with a write missing from the log requests receive no response.
        stopsWith: /a request received no response/,
      },
      {
        test: 'infra/segment-log/writer.test.ts',
        title: 'is taken back when the disk is full, and the next one takes its place',
      },
    ],
  },
  {
    name: 'torn-write-left-in-place',
    promises: [10],
    why: 'half a frame stays behind the last one: if a segment ends with it the log is rejected as damaged',
    module: 'infra/segment-log/writer',
    find: 'await cutOff(file, frameBytes);',
    replace: '',
    provedBy: [
      {
        test: 'infra/segment-log/writer.test.ts',
        title: 'is taken back when the disk is full, and the next one takes its place',
      },
    ],
  },
  {
    name: 'keys-not-brought-up-to-the-log',
    promises: [2, 11],
    why: 'after a kill the newest keys are free again, and a retry of them is counted twice',
    module: 'infra/key-table/open-key-table',
    find: 'await replayLog(logReader, end.covered().logPosition, { slots, recent, writer });',
    replace: '',
    provedBy: [
      {
        test: 'infra/key-table/open-key-table.test.ts',
        title: 'are made from the log alone when files of theirs are gone',
      },
      {
        test: 'tests/faults/crash/limits.timed.test.ts',
        title: 'the data plane acknowledges again two seconds after a kill, with all its keys',
      },
    ],
    shownBy: { promise: 2, rounds: 4 },
  },
  {
    name: 'table-rebuilt-from-the-log',
    promises: [11],
    why: 'a start reads every event there ever was: minutes instead of a second',
    module: 'infra/key-table/open-key-table',
    find: 'if (latest && latest.recordCount > 0 && hadRecords) {',
    replace: 'if (latest && latest.recordCount < 0 && hadRecords) {',
    provedBy: [
      {
        test: 'infra/key-table/start-from-records.test.ts',
        title: 'reads of the log only what its checkpoint does not cover',
      },
      {
        test: 'tests/faults/crash/limits.timed.test.ts',
        title: 'the data plane acknowledges again two seconds after a kill, with all its keys',
      },
    ],
  },
];
