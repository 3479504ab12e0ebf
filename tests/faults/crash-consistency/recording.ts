import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { poll } from '../../../infra/platform/poll.ts';
import { readSystemCalls, type SystemCall } from '../../support/system-calls.ts';
import { type DiskHistory, turningPoints } from './disk-history.ts';
import { identityCheckOf } from './judge-log.ts';
import { recordDisk } from './record-disk.ts';
import { loadedMarks, type RecordedLog, readRecordedLog } from './recorded-log.ts';

/** What traced processes did to their data folder, from before their first start on. */
export interface Recording {
  history: DiskHistory;
  log: RecordedLog;
  identityCheck: Uint8Array;
  /** Of each file the times at which a power cut makes a difference. */
  times: number[][];
  /** When ranges were to be marked as loaded. */
  loaded: number[];
}

export interface TracedFolder {
  dataDir: string;
  /** A copy of it from before; it has to stay. */
  before: string;
  /** A trace for each life of the processes. */
  traces: string[];
  orderedIn?: (name: string) => boolean;
}

/** With fewer there is next to nothing that a power cut could take. */
const RESPONSES_MIN = 100;

/**
 * To be called when the processes have ended, and before the folder is removed. Rejects when too little was
 * recorded to judge by.
 */
export async function readRecording({
  dataDir,
  before,
  traces,
  orderedIn,
}: TracedFolder): Promise<Recording> {
  const calls = await readLives(traces);
  const history = recordDisk({ root: dataDir, before, calls, ...(orderedIn ? { orderedIn } : {}) });
  const log = readRecordedLog(history, calls);
  const times = turningPoints(history);
  const { length: responses } = log.responses;
  if (responses < RESPONSES_MIN)
    throw new Error(`${responses} responses were recorded, fewer than ${RESPONSES_MIN}`);
  if (times.length === 0) throw new Error('no change of a file or a name was recorded');
  return { history, log, identityCheck: identityCheckOf(dataDir), times, loaded: loadedMarks(calls) };
}

/** The machine reuses thread numbers: this distinguishes them by life. */
const LIFE_THREADS = 10_000_000;

async function readLives(traces: string[]): Promise<SystemCall[]> {
  const all: SystemCall[] = [];
  let time = 0;
  for (const [life, trace] of traces.entries()) {
    const first = life * LIFE_THREADS;
    for (const call of await readSystemCalls(trace, time)) {
      const madeProcess = /^(clone|v?fork)/.test(call.name) && (call.result ?? -1) > 0;
      const result = madeProcess ? first + (call.result ?? 0) : call.result;
      all.push({ ...call, thread: first + call.thread, result });
    }
    time = all.reduce((last, { began, ended }) => Math.max(last, began, ended < NEVER ? ended : 0), time);
  }
  return all;
}

const NEVER = Number.POSITIVE_INFINITY;
const TAIL_BYTES = 200;
const COMPLETE = { timeoutMs: 10_000, everyMs: 10 };

/** Waits until the tracer has written that this process, its threads and all before have ended. */
export async function traceIsComplete(trace: string, pid: number): Promise<void> {
  const last = new RegExp(`^${pid} +\\+\\+\\+ (exited|killed)[^\n]*\n$`, 'm');
  const complete = await poll(() => (last.test(tailOf(trace)) ? true : undefined), COMPLETE);
  if (!complete) throw new Error(`${trace} does not end with the end of process ${pid}: ${tailOf(trace)}`);
}

function tailOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(file, tail, 0, tail.length, size - tail.length);
    return tail.toString('latin1');
  } finally {
    closeSync(file);
  }
}
