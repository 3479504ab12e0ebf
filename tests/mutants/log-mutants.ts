import { mutant } from './mutant-row.ts';

const SEGMENT_APPENDER = 'infra/segment-log/segment-appender.test.ts';
const POWER_CUT = 'tests/faults/crash-consistency/power-cut.sys.test.ts';
const READER = 'infra/segment-log/reader.test.ts';
const WRITER = 'infra/segment-log/writer.test.ts';
const DISK = 'tests/faults/crash-consistency/disk.sys.test.ts';
const OPEN_KEY_TABLE = 'infra/key-table/open-key-table.test.ts';
const OPEN_TAIL = 'infra/segment-log/open-tail.test.ts';
const FRAME = 'schemas/stored/frame.test.ts';
const EARLIER_VERSION = 'infra/segment-log/earlier-version.test.ts';
const LIMITS = 'tests/faults/crash/limits.timed.test.ts';
const START_FROM_RECORDS = 'infra/key-table/start-from-records.test.ts';
const LOGGER = 'infra/platform/logger.test.ts';
const WRITTEN_PARTS = 'infra/clickhouse/embedded/written-parts.whole-store.test.ts';
const KEY_UPKEEP = 'infra/key-table/key-upkeep.test.ts';
const MERGE_FILES = 'infra/key-table/merge-files.test.ts';
const SEALED_FILES = 'infra/key-table/sealed-files.test.ts';
const FORMER_KEYS = 'infra/key-table/former-keys.test.ts';

/** The segment log, the key table over it, and what only a power cut or a full disk shows of them. */
export const LOG_MUTANTS = [
  mutant('dsync-left-out', [6])
    .why('a write returns from the page cache: a power cut takes what was acknowledged')
    .is('infra/segment-log/segment-appender', '0')
    .red(SEGMENT_APPENDER, 'every segment is opened so that a write returns when it is on the disk')
    .red(POWER_CUT, 'acknowledges no event that a power cut can still take')
    .red(POWER_CUT, 'finds all that it acknowledged, once, after a power cut at any time'),
  mutant('reader-beyond-the-durable-end', [6])
    .why('a power cut gives positions again that a reader has already loaded')
    .is(
      'infra/segment-log/reader',
      `const { statSync } = await import('node:fs');
        const notified = openDurableEnd(directory, logId, 'read');
        const read = async () => {
          const base = listSegments(directory).at(-1) ?? 0;
          const { size } = statSync(join(directory, segmentName(base)));
          return base + Math.max(0, size - headerBytesOf(4096));
        };
        const segments = createSegmentReads(openFile);
        return createReader({ directory, logId, durableEnd: { ...notified, read }, segments });`,
    )
    .red(READER, 'does not read a frame that is in the file and not durable yet'),
  mutant('end-published-before-the-write', [6])
    .why('a reader loads what a power cut takes back')
    .before('infra/segment-log/writer', 'durableEnd.publish(base + frameBytes + bytes);')
    .red(WRITER, 'stays where it is until the write has returned'),
  mutant('write-error-swallowed', [10])
    .why('a full disk returns 201')
    .is('infra/segment-log/writer', 'if (isDiskFull(error)) return true;')
    .red(
      DISK,
      'a disk without a byte left takes nothing acknowledged, and all recovers by itself',
      // It is not judged: with a write missing from the log requests receive no response.
      /a request received no response/,
    )
    .red(WRITER, 'is taken back when the disk is full, and the next one takes its place'),
  mutant('torn-write-left-in-place', [10])
    .why('half a frame stays behind the last one: if a segment ends with it the log is rejected as damaged')
    .drop('infra/segment-log/writer')
    .red(WRITER, 'is taken back when the disk is full, and the next one takes its place'),
  mutant('padded-tail-misread', [6])
    .why('a frame whose last block a crash has cut counts as whole: readers go beyond the end of the file')
    .always('infra/segment-log/find-tail')
    .red(OPEN_TAIL, 'drops what was written of the frame, wherever it was cut, and continues in its place'),
  mutant('padding-left-out-of-the-check', [6])
    .why('a last block that was torn or damaged is taken for the one that was written')
    .always('infra/segment-log/find-tail')
    .red(
      OPEN_TAIL,
      'drops a tail of any bytes that is no frame with its padding',
      /other bytes than zeros pad the frame/,
    ),
  mutant('old-segment-continued', [19])
    .why('frames in blocks follow frames without them in one file: no reader finds where they begin')
    .never('infra/segment-log/writer')
    .red(EARLIER_VERSION, 'is read as it is, and continues in a new segment'),
  mutant('version-outside-the-checksum', [19])
    .why('a frame with a damaged version is read in another form: other events, or none')
    .never('schemas/stored/frame')
    .red(FRAME, 'made of parts is known to be damaged whichever bit of it is turned'),
  mutant('log-version-not-raised', [19])
    .why('the release before takes segments in blocks for damaged ones and asks for a backup')
    .never('infra/segment-log/log-identity')
    .red(EARLIER_VERSION, 'is a log of this version before the first segment of today is there')
    .red(EARLIER_VERSION, 'is a log of this version before the first frame of today is in its last segment'),
  mutant('keys-not-brought-up-to-the-log', [2, 11])
    .why('after a kill the newest keys are free again, and a retry of them is counted twice')
    .drop('infra/key-table/open-key-table')
    .red(OPEN_KEY_TABLE, 'are made from the log alone when files of theirs are missing')
    .red(LIMITS, 'the data plane acknowledges again two seconds after a kill, with all its keys')
    .shownBy({ promise: 2, rounds: 4 }),
  mutant('table-rebuilt-from-the-log', [11])
    .why('a start reads every event there ever was: minutes instead of a second')
    .always('infra/key-table/open-stored-keys')
    .red(START_FROM_RECORDS, 'reads of the log only what they do not hold')
    .red(LIMITS, 'the data plane acknowledges again two seconds after a kill, with all its keys'),
  mutant('new-segment-without-a-name', [6])
    .why('a power cut takes a whole segment of acknowledged events: its name was never durable')
    .drop('infra/segment-log/segment-appender')
    .red(POWER_CUT, 'announces no frame that a power cut can still take')
    .red(POWER_CUT, 'opens with all that it announced, once, after a power cut at any time'),
  mutant('found-segment-without-a-name', [6])
    .why('a power cut takes a segment that a killed process has made, with all that the next one wrote to it')
    .drop('infra/segment-log/open-tail')
    .red(POWER_CUT, 'announces no frame that a power cut can still take'),
  mutant('folders-without-a-name', [6])
    .why('a power cut takes the whole log: the name of its folder was never durable')
    .drop('infra/platform/data-dir')
    .red(POWER_CUT, 'announces no frame that a power cut can still take')
    .red(POWER_CUT, 'opens with all that it announced, once, after a power cut at any time'),
  mutant('segment-taken-back-for-now', [6])
    .why('a segment that had no room is there again after a power cut, and the log is rejected as damaged')
    .drop('infra/segment-log/segment-appender')
    .red(POWER_CUT, 'announces no frame that a power cut can still take'),
  mutant('sealed-before-it-is-durable', [6])
    .why('after a power cut the manifest names a file whose keys are not there, and no start is possible')
    .drop('infra/key-table/sealed-file-writer')
    .red(POWER_CUT, 'opens with all that it announced, once, after a power cut at any time'),
  mutant('unreadable-keys-gone-on-with', [10])
    .why('a data plane whose keys cannot be read goes on, and a retry of such a key receives 503 forever')
    .drop('ingest/http/usage-responses')
    .shownBy({ promise: 10, rounds: 3, stopsWith: /for the end of a data plane whose disk has failed/ }),
  mutant('log-errors-thrown', [10])
    .why('where the log of a process lies on the full disk, every process that logs ends, the supervisor too')
    .drop('infra/platform/logger')
    .red(LOGGER, 'a log on a full disk costs its lines and nothing else'),
  mutant('failed-sync-tried-again', [6])
    .why('what a sync has lost is not written by the next one, which succeeds: the checkpoint promises it')
    .is('infra/key-table/key-files', 'throw cause;')
    .red(KEY_UPKEEP, 'a sync that fails for want of space is no full disk to be waited out'),
  mutant('sealed-generation-forgotten', [2])
    .why('the manifest says that the log before it is not needed for keys, and lacks the file that has them')
    .swap('infra/key-table/key-upkeep', '[...now.small, file.number]', 'now.small')
    .red(OPEN_KEY_TABLE, 'are all known, whatever a file holds that was not sealed yet')
    .red(KEY_UPKEEP, 'a generation that is full is found in its file, at once and after a kill'),
  mutant('merged-file-forgotten', [2])
    .why('small files are removed, and the large one that has their keys counts no more after a start')
    .swap('infra/key-table/merge-files', '[...large, file.number]', 'large')
    .red(MERGE_FILES, 'of some keys find room, however many there are'),
  mutant('moved-files-forgotten', [2])
    .why('files that are as they were count no more after a start, which removes them')
    .swap('infra/key-table/key-folder', '[...now.large, ...now.small.filter(isMoved)]', 'now.large')
    .red(OPEN_KEY_TABLE, 'are all known, whatever a file holds that was not sealed yet')
    .red(MERGE_FILES, 'of full generations become large as they are, and sixteen large ones become one'),
  mutant('entries-of-another-file-removed', [2])
    .why('when a seal and a merge remove files at once, keys of files that stay are forgotten')
    .drop('infra/key-table/sealed-files')
    .red(SEALED_FILES, 'files leave both indexes in turns, and those that stay are found'),
  mutant('start-waits-for-room-forever', [10])
    .why('a start on a full disk never ends, and nothing but a warning each second says why')
    .drop('infra/key-table/key-upkeep')
    .red(KEY_UPKEEP, 'a disk that stays full ends a start'),
  mutant('inner-lengths-believed', [7])
    .why('a frame of a faulty writer ends the load with an error without a code, again and again')
    .never('schemas/stored/frame')
    .red(
      FRAME,
      'whose parts do not fill it, or are not what they should be, is damaged whatever its checksum',
    ),
  mutant('limit-of-keys-unnamed', [10])
    .why('usage with new keys is rejected for good, and the log says that the disk is full')
    .is(
      'infra/key-table/merge-files',
      'if (!folder.files.hasRoom(LARGE, keysOf(files), files.length)) return false;',
    )
    .red(KEY_UPKEEP, 'the log names the limit once the large index is full'),
  mutant('take-over-failed-unnoticed', [10])
    .why('a data plane whose keys are not durable goes on')
    .drop('infra/key-table/take-over')
    .red(FORMER_KEYS, 'end the upkeep of all, and so the process, where a part of them cannot be taken over'),
  mutant('former-keys-counted-as-taken', [2, 19])
    .why('after the first part of the keys of the release before the rest is forgotten, and counted again')
    .never('infra/key-table/take-over')
    .red(FORMER_KEYS, 'are all known throughout, whenever it is killed'),
  mutant('part-names-not-synced', [6])
    .why('a power cut takes parts of a range that is marked as loaded: nobody sends it again')
    .drop('infra/clickhouse/embedded/durable-writes')
    .shownBy({ promise: 6, rounds: 1 }),
  mutant('insert-not-measured', [10])
    .why('a range is settled whose part has empty files: the next start detaches it')
    .drop('infra/clickhouse/embedded/durable-writes')
    .red(WRITTEN_PARTS, 'an insert that cannot write is not taken for stored, and ends the process'),
  mutant('new-parts-not-measured', [10])
    .why('a merge on a full disk takes what it merged with it')
    .drop('infra/clickhouse/embedded/written-parts')
    .red(WRITTEN_PARTS, 'a merge that cannot write ends the process'),
];
