import type { Mutant } from './mutant.ts';

const CUTS = 'tests/faults/crash-consistency/power-cut.sys.test.ts';
const NOTIFIES = { test: CUTS, title: 'announces no frame that a power cut can still take' };
const OPENS = {
  test: CUTS,
  title: 'opens with all that it announced, once, after a power cut at any time',
};

/** What only a power cut shows, or a disk without room. */
export const POWER_MUTANTS: readonly Mutant[] = [
  {
    name: 'new-segment-without-a-name',
    promises: [6],
    why: 'a power cut takes a whole segment of acknowledged events: its name was never durable',
    module: 'infra/segment-log/segment-appender',
    find: 'syncDirectory(dirname(place.path)); return file;',
    replace: 'return file;',
    provedBy: [NOTIFIES, OPENS],
  },
  {
    name: 'found-segment-without-a-name',
    promises: [6],
    why: 'a power cut takes a segment that a killed process has made, with all that the next one wrote to it',
    module: 'infra/segment-log/open-tail',
    find: 'syncDirectory(directory);',
    replace: '',
    provedBy: [NOTIFIES],
  },
  {
    name: 'folders-without-a-name',
    promises: [6],
    why: 'a power cut takes the whole log: the name of its folder was never durable',
    module: 'infra/platform/data-dir',
    find: 'syncDirectory(root);',
    replace: '',
    provedBy: [NOTIFIES, OPENS],
  },
  {
    name: 'segment-taken-back-for-now',
    promises: [6],
    why: 'a segment that had no room is there again after a power cut, and the log is rejected as damaged',
    module: 'infra/segment-log/segment-appender',
    find: 'syncDirectory(dirname(place.path)); throw error;',
    replace: 'throw error;',
    provedBy: [NOTIFIES],
  },
  {
    name: 'checkpoint-before-its-records',
    promises: [6],
    why: 'after a power cut the checkpoint promises records that are not there, and no start is possible',
    module: 'infra/key-table/record-file-end',
    find: 'await syncOnce(records.path, () => records.file.datasync());',
    replace: '',
    provedBy: [OPENS],
  },
  {
    name: 'unreadable-keys-gone-on-with',
    promises: [10],
    why: 'a data plane whose keys cannot be read goes on, and a retry of such a key receives 503 forever',
    module: 'ingest/http/accept',
    find: 'if (error instanceof Fatal) fail(error);',
    replace: '',
    provedBy: [],
    shownBy: { promise: 10, rounds: 3, stopsWith: /for the end of a data plane whose disk has failed/ },
  },
  {
    name: 'log-errors-thrown',
    promises: [10],
    why: 'where the log of a process lies on the full disk, every process that logs ends, the supervisor too',
    module: 'infra/platform/logger',
    find: "lines.on('error', () => undefined);",
    replace: '',
    provedBy: [
      {
        test: 'infra/platform/logger.test.ts',
        title: 'a log on a full disk costs its lines and nothing else',
      },
    ],
  },
  {
    name: 'failed-sync-tried-again',
    promises: [6],
    why: 'what a sync has lost is not written by the next one, which succeeds: the checkpoint promises it',
    module: 'infra/key-table/record-file',
    find: "throw new Fatal('record_file_write_failed',",
    replace: "throw cause; new Fatal('record_file_write_failed',",
    provedBy: [
      {
        test: 'infra/key-table/record-writer.test.ts',
        title: 'a sync that fails for want of room is no full disk to be waited out',
      },
    ],
  },
  {
    name: 'part-names-not-synced',
    promises: [6],
    why: 'a power cut takes parts of a range that is marked as loaded: nobody sends it again',
    module: 'infra/clickhouse/chdb-warehouse',
    find: 'await folder.sync();',
    replace: '',
    shownBy: { promise: 6, rounds: 1 },
    provedBy: [],
  },
];
