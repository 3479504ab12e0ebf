import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';
import { isDiskFull } from '../platform/disk-guard.ts';
import { BLOCK_RECORDS } from './recent-records.ts';
import type { RecordFileEnd } from './record-file-end.ts';

/** Writes confirmed records to the record file, after the responses, and checkpoints it. */
export interface RecordWriter {
  /**
   * The first `recordCount` records are on the log, which ends at `logPosition` behind them. Gives a promise
   * when so many are unwritten that more have to wait. Throws Fatal `record_file_write_failed`, or rejects
   * with it.
   */
  advance(recordCount: number, logPosition: number): void | Promise<void>;
  /** Everything before this position of the log is in the record file, durably. */
  coveredUpTo(): number;
  /** Writes and checkpoints everything. What a full disk does not take, the next start reads from the log. */
  finish(): Promise<void>;
}

export interface RecordWriterDeps {
  end: RecordFileEnd;
  /** Of the file, for messages. */
  path: string;
  log: Logger;
}

/** 40 MB of RAM. Reached when this disk is slower than the log's, or full. */
const UNWRITTEN_RECORDS_MAX = 1_048_576;
const DISK_FULL_RETRY_MS = 1_000;

interface Goal {
  recordCount: number;
  logPosition: number;
}

export function createRecordWriter({ end, path, log }: RecordWriterDeps): RecordWriter {
  let goal: Goal = end.covered();
  let running: Promise<void> | undefined;
  let failure: Fatal | undefined;
  let finishing = false;

  const isCheckpointDue = () => end.isCheckpointDue(goal.recordCount, finishing);
  const isDue = () => goal.recordCount - end.written() >= BLOCK_RECORDS || isCheckpointDue();

  /** One write in flight. A full disk is waited for; what comes meanwhile is bounded in `advance`. */
  async function run(): Promise<void> {
    while (isDue()) {
      try {
        const reached = goal;
        await end.writeUpTo(reached.recordCount);
        if (isCheckpointDue()) await end.checkpoint(reached.logPosition);
      } catch (cause) {
        if (!isDiskFull(cause)) {
          failure = new Fatal('record_file_write_failed', `${path} cannot be written.`, { cause });
          return;
        }
        log.warn({ unwritten: goal.recordCount - end.written() }, 'no space for the record file');
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
    coveredUpTo: () => end.covered().logPosition,
    async finish() {
      finishing = true;
      await settle();
      if (isDue()) start();
      await settle();
    },
  };
}
