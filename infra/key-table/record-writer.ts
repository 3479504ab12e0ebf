import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';
import { RECORD_BYTES } from '../../schemas/frame.ts';
import { isDiskFull } from '../disk-guard.ts';
import type { Checkpoint, CheckpointFile } from './checkpoint-file.ts';
import { BLOCK_RECORDS, type RecentRecords } from './recent-records.ts';
import { offsetOf, type RecordFile, writeAllAt } from './record-file.ts';

/** Brings confirmed records into the record file, behind the answers, and checkpoints it. */
export interface RecordWriter {
  /**
   * The first `recordCount` records are on the log, which ends at `logPosition` behind them. Gives a promise
   * when so many are unwritten that more have to wait. Throws Fatal `record_file_write_failed`, or rejects
   * with it.
   */
  advance(recordCount: number, logPosition: number): void | Promise<void>;
  /** Writes and checkpoints everything. What a full disk does not take, the next start reads from the log. */
  finish(): Promise<void>;
}

export interface RecordWriterDeps {
  records: RecordFile;
  checkpoints: CheckpointFile;
  recent: RecentRecords;
  /** What the file holds already, durably. */
  from: Checkpoint;
  log: Logger;
}

/** After so many, 10 MB, or so long: it bounds what a start has to read from the log. */
const CHECKPOINT_RECORDS = 262_144;
const CHECKPOINT_MS = 30_000;
/** 40 MB of RAM. Reached when this disk is slower than the log's, or full. */
const UNWRITTEN_RECORDS_MAX = 1_048_576;
const DISK_FULL_RETRY_MS = 1_000;

interface Goal {
  recordCount: number;
  logPosition: number;
}

export function createRecordWriter(deps: RecordWriterDeps): RecordWriter {
  const end = createFileEnd(deps);
  let goal: Goal = deps.from;
  let running: Promise<void> | undefined;
  let failure: Fatal | undefined;
  let finishing = false;

  const isDue = () => goal.recordCount - end.written() >= BLOCK_RECORDS || isCheckpointDue();
  const isCheckpointDue = () => end.isCheckpointDue(goal.recordCount, finishing);

  /** One write in flight. A full disk is waited for; what comes meanwhile is bounded in `advance`. */
  async function run(): Promise<void> {
    while (isDue()) {
      try {
        const reached = goal;
        await end.writeUpTo(reached.recordCount);
        if (isCheckpointDue()) await end.checkpoint(reached.logPosition);
      } catch (cause) {
        if (!isDiskFull(cause)) {
          failure = new Fatal('record_file_write_failed', `${deps.records.path} cannot be written.`, {
            cause,
          });
          return;
        }
        deps.log.warn({ unwritten: goal.recordCount - end.written() }, 'no space for the record file');
        if (finishing) return;
        await delay(DISK_FULL_RETRY_MS);
      }
    }
  }

  async function settle(): Promise<void> {
    await running;
    if (failure) throw failure;
  }

  function start(): void {
    running = run().finally(() => {
      running = undefined;
    });
  }

  return {
    advance(recordCount, logPosition) {
      if (failure) throw failure;
      goal = { recordCount, logPosition };
      if (!running && isDue()) start();
      return recordCount - end.written() >= UNWRITTEN_RECORDS_MAX ? settle() : undefined;
    },
    async finish() {
      finishing = true;
      await settle();
      if (isDue()) start();
      await settle();
    },
  };
}

/** The growing end of the record file, and what of it a checkpoint covers. */
function createFileEnd({ records, checkpoints, recent, from }: RecordWriterDeps) {
  let written = from.recordCount;
  let recordsCrc = from.recordsCrc;
  let checkpointed = from.recordCount;
  let checkpointedAtMs = performance.now();

  return {
    written: () => written,
    async writeUpTo(recordCount: number): Promise<void> {
      while (written < recordCount) {
        const bytes = recent.bytesOf(written, recordCount);
        await writeAllAt(records.file, bytes, offsetOf(written));
        recordsCrc = crc32(bytes, recordsCrc);
        written += bytes.length / RECORD_BYTES;
        recent.releaseBefore(written);
      }
    },
    isCheckpointDue(recordCount: number, now: boolean): boolean {
      const uncovered = recordCount - checkpointed;
      const isOld = now || performance.now() - checkpointedAtMs > CHECKPOINT_MS;
      return uncovered >= CHECKPOINT_RECORDS || (isOld && uncovered > 0);
    },
    /** `logPosition` is where the log ends behind the last record written. */
    async checkpoint(logPosition: number): Promise<void> {
      // The records first: a checkpoint must never promise what a power cut can take.
      await records.file.datasync();
      await checkpoints.write({ recordCount: written, logPosition, recordsCrc });
      checkpointed = written;
      checkpointedAtMs = performance.now();
    },
  };
}
