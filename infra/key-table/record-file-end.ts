import { crc32 } from 'node:zlib';
import { RECORD_BYTES } from '../../schemas/stored/record.ts';
import type { Checkpoint, CheckpointFile } from './checkpoint-file.ts';
import type { RecentRecords } from './recent-records.ts';
import { offsetOf, type RecordFile, syncOnce, writeAllAt } from './record-file.ts';

/** The growing end of the record file, and what of it is promised to be there after a power cut. */
export interface RecordFileEnd {
  /** Records in the file. */
  written(): number;
  /** The newest checkpoint; it is durable. */
  covered(): Checkpoint;
  /** Brings the records before this number into the file. */
  writeUpTo(recordCount: number): Promise<void>;
  /** Whether so many records want a checkpoint; `now`: whatever is not promised yet does. */
  isCheckpointDue(recordCount: number, now: boolean): boolean;
  /** Promises what is written; `logPosition` is where the log ends behind the last record of it. */
  checkpoint(logPosition: number): Promise<void>;
}

export interface RecordFileEndDeps {
  records: RecordFile;
  checkpoints: CheckpointFile;
  recent: RecentRecords;
  /** What the file holds already, durably. */
  from: Checkpoint;
}

/** After so many, 10 MB, or so long: it bounds what a start has to read from the log. */
const CHECKPOINT_RECORDS = 262_144;
const CHECKPOINT_MS = 30_000;

export function createRecordFileEnd({
  records,
  checkpoints,
  recent,
  from,
}: RecordFileEndDeps): RecordFileEnd {
  let written = from.recordCount;
  let recordsCrc = from.recordsCrc;
  let covered = from;
  let coveredAtMs = performance.now();

  return {
    written: () => written,
    covered: () => covered,
    async writeUpTo(recordCount) {
      while (written < recordCount) {
        const bytes = recent.bytesOf(written, recordCount);
        await writeAllAt(records.file, bytes, offsetOf(written));
        recordsCrc = crc32(bytes, recordsCrc);
        written += bytes.length / RECORD_BYTES;
        recent.releaseBefore(written);
      }
    },
    isCheckpointDue(recordCount, now) {
      const uncovered = recordCount - covered.recordCount;
      const isOld = now || performance.now() - coveredAtMs > CHECKPOINT_MS;
      return uncovered >= CHECKPOINT_RECORDS || (isOld && uncovered > 0);
    },
    async checkpoint(logPosition) {
      const reached = { recordCount: written, logPosition, recordsCrc };
      // The records first: a checkpoint must never promise what a power cut can take.
      // mutant: checkpoint-before-its-records
      await syncOnce(records.path, () => records.file.datasync());
      await checkpoints.write(reached);
      covered = reached;
      coveredAtMs = performance.now();
    },
  };
}
