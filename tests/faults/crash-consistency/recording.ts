import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { poll } from '../../../infra/platform/poll.ts';
import type { Form } from '../../../infra/segment-log/write-form-under-test.ts';
import { startDataPlaneUnderTest } from '../../../ingest/data-plane-under-test.ts';
import { createApi } from '../../support/api.ts';
import { inTime } from '../../support/in-time.ts';
import { readSystemCalls, type SystemCall, traceTo } from '../../support/system-calls.ts';
import { type DiskHistory, turningPoints } from './disk-history.ts';
import { identityCheckOf } from './judge-log.ts';
import { KEY_SIZES } from './key-sizes.ts';
import { type RecordingOf, recordDisk } from './record-disk.ts';
import { loadedMarks, type RecordedLog, readRecordedLog } from './recorded-log.ts';

/** What traced processes did to their data folder, from before their first start on. */
export interface Recording {
  history: DiskHistory;
  log: RecordedLog;
  identityCheck: Uint8Array;
  keySizes: Partial<typeof KEY_SIZES>;
  /** Of each file the times at which a power cut makes a difference. */
  times: number[][];
  /** When ranges were to be marked as loaded. */
  loaded: number[];
}

interface TracedFolder
  extends Pick<RecordingOf, 'before' | 'orderedIn'>,
    Partial<Pick<Recording, 'keySizes'>> {
  dataDir: string;
  /** A trace for each life of the processes. */
  traces: string[];
}

/** With fewer there is next to nothing that a power cut could take. */
const RESPONSES_MIN = 100;

/**
 * To be called when the processes have ended, and before the folder is removed. Rejects when too little was
 * recorded to judge by.
 */
export async function readRecording({
  traces,
  dataDir,
  keySizes = {},
  ...traced
}: TracedFolder): Promise<Recording> {
  const calls = await readLives(traces);
  const history = recordDisk({ root: dataDir, calls, ...traced });
  const log = readRecordedLog(history, calls);
  const times = turningPoints(history);
  const { length: responses } = log.responses;
  if (responses < RESPONSES_MIN)
    throw new Error(`${responses} responses were recorded, fewer than ${RESPONSES_MIN}`);
  if (times.length === 0) throw new Error('no change of a file or a name was recorded');
  const identityCheck = identityCheckOf(dataDir);
  return { history, log, identityCheck, keySizes, times, loaded: loadedMarks(calls) };
}

/** The machine reuses thread numbers: this distinguishes them by life. */
const LIFE_THREADS = 10_000_000;

async function readLives(traces: string[]): Promise<SystemCall[]> {
  const all: SystemCall[] = [];
  let time = 0;
  for (const [life, trace] of traces.entries()) {
    const first = life * LIFE_THREADS;
    const calls = await readSystemCalls(trace, time);
    const end = calls.reduce((last, { began }) => Math.max(last, began), time) + 1;
    for (const call of calls.map((one) => cutOffAt(one, end))) {
      const madeProcess = /^(clone|v?fork)/.test(call.name) && (call.result ?? -1) > 0;
      const result = madeProcess ? first + (call.result ?? 0) : call.result;
      all.push({ ...call, thread: first + call.thread, result });
    }
    time = all.reduce((last, { began, ended }) => Math.max(last, began, ended < NEVER ? ended : 0), time);
  }
  return all;
}

/** A removal that its process's end cut off is over by then, whether it was made or not. */
function cutOffAt(call: SystemCall, ended: number): SystemCall {
  const isCutOff = call.result === undefined && call.name.startsWith('unlink');
  return isCutOff ? { ...call, result: Number.NaN, ended } : call;
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

const FRAMES = 120;
/** After an orderly end the keys are in their file: the next life gives up segments. */
const LIVES = ['kill', 'orderly', 'renamed', 'orderly', 'kill'];

/** A log of many segments and its keys, through kills and orderly stops. `folder` is a new one. */
export async function recordSegments(folder: string, form: Form): Promise<Recording> {
  const { dataDir, before } = placesIn(folder);
  const program = join('dist-tests', 'tests', 'faults', 'crash-consistency', 'keep-writing.js');
  const traces: string[] = [];
  for (const [life, how] of LIVES.entries()) {
    const trace = join(folder, `${life}.trace`);
    const [command = '', ...args] = [...traceTo(trace), process.execPath, program, dataDir];
    const rest = [String(life), String(FRAMES), how, form];
    const child = spawn(command, [...args, ...rest], { stdio: ['ignore', 'ignore', 'inherit'] });
    await endOf(child, how === 'orderly' ? 0 : 'SIGKILL');
    await traceIsComplete(trace, child.pid ?? 0);
    traces.push(trace);
  }
  return readRecording({ dataDir, before, traces, keySizes: KEY_SIZES });
}

const LIFE_MS_MAX = 60_000;

/** Rejects when the process takes too long, or ends otherwise than it was to. */
async function endOf(child: ChildProcess, wanted: number | NodeJS.Signals): Promise<void> {
  try {
    const [code, killedBy] = await inTime(once(child, 'exit'), LIFE_MS_MAX, 'a life of the log');
    if ((code ?? killedBy) !== wanted) throw new Error(`a life of the log ended with ${code ?? killedBy}`);
  } finally {
    child.kill('SIGKILL');
  }
}

const CONNECTIONS = 6;
const REQUESTS = 10;
const BATCH = 100;

/** A data plane that serves many clients at once, batches and single events, through a stop and a kill. */
export async function recordDataPlane(folder: string): Promise<Recording> {
  const { before } = placesIn(folder);
  const traces: string[] = [];
  const plane = await startDataPlaneUnderTest({}, () => {
    traces.push(join(folder, `${traces.length}.trace`));
    return traceTo(traces.at(-1) ?? '');
  });
  try {
    await plane.addCustomer('ada');
    for (const how of ['stop', 'kill', 'stop'] as const) {
      await Promise.all(
        Array.from({ length: CONNECTIONS }, (_, sender) => send(plane, `${traces.length}-${sender}`)),
      );
      const pid = plane.pid();
      const exitCode = await plane.stop(how === 'stop' ? 'SIGTERM' : 'SIGKILL');
      if (exitCode !== (how === 'stop' ? 0 : null)) throw new Error(`${how}: it ended with ${exitCode}`);
      await traceIsComplete(traces.at(-1) ?? '', pid);
      if (traces.length < 3) await plane.restart();
    }
    return await readRecording({ dataDir: plane.dataDir, before, traces });
  } finally {
    await plane.remove();
  }
}

function placesIn(folder: string): { dataDir: string; before: string } {
  const places = { dataDir: join(folder, 'data'), before: join(folder, 'before') };
  for (const place of Object.values(places)) mkdirSync(place, { recursive: true });
  return places;
}

type Plane = Awaited<ReturnType<typeof startDataPlaneUnderTest>>;

/** One request after the other; of a batch a fifth was sent before. */
async function send({ origin, keys }: Plane, sender: string): Promise<void> {
  const api = createApi({ origin: origin(), key: keys.live.secret, connections: 1 });
  for (let request = 0; request < REQUESTS; request++) {
    const single = request % 3 === 0;
    const events = Array.from({ length: BATCH }, (_, at) =>
      eventOf(`${sender}-${request - Number(at % 5 === 4)}-${at}`),
    );
    const { status, body } = await api.call('POST', `/usage/events${single ? '' : '/batch'}`, {
      headers: single ? { 'idempotency-key': `${sender}-${request}` } : {},
      body: JSON.stringify(single ? eventOf(undefined) : { events }),
    });
    if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
  }
  await api.close();
}

function eventOf(idempotencyKey: string | undefined) {
  return { idempotencyKey, customerId: 'ada', meterId: 'calls', value: 1 };
}
