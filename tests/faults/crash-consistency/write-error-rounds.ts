import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { compareCounters } from '../../support/compare.ts';
import { during } from '../../support/during.ts';
import { seenInTime } from '../../support/in-time.ts';
import type { Instance } from '../../support/instance.ts';
import { lacking } from '../../support/machine-requirements.ts';
import { compareLog } from '../../support/stored-events.ts';
import { type JudgedInstance, judgeAll, problemsOf, startJudged } from '../judged-instance.ts';
import { restartDataPlane } from '../process-control.ts';
import type { FaultPromise, Round, RoundReport } from '../promise.ts';
import { startWorkload } from '../workload.ts';

/** Rounds of a disk that fails: a write of the log, a write of the keys, or a read of them, ends with EIO. */
export const writeErrors: FaultPromise = {
  promises: [6, 10],
  title: 'the disk fails under the log and the keys',
  rounds: { short: 3, long: 60 },
  lacks: () => lacking('attaching'),
  async open({ onEnd }) {
    const environment = { LOG_LEVEL: 'silent', LOAD_LINGER_MS: '20' };
    const { instance, judged } = await startJudged(environment, { connections: 12, onEnd });
    return {
      round: (round) => failOnce({ instance, judged }, round),
      judge: () => judgeAll(judged, () => compareLog(instance.dataDir, judged.ledger)),
    };
  },
};

interface Failure {
  /** Within the data folder. */
  file: (dataDir: string) => string;
  calls: string;
  /**
   * The nth of these calls fails, and every later one. The tracer counts those of each thread apart, and four
   * take turns writing: the eighth of one thread is the 29th of all at the latest. Keys are written once in
   * 30 s.
   */
  afterMax: number;
  /** The newest keys are in RAM as well, until a start. */
  isReadAfterStart?: boolean;
}

const WRITES = 'write,pwrite64,writev,pwritev';
const FAILURES: readonly Failure[] = [
  { file: newestSegment, calls: WRITES, afterMax: 8 },
  { file: nextKeyFile, calls: WRITES, afterMax: 1 },
  // Replays of the rounds before read them.
  { file: newestKeyFile, calls: 'pread64,preadv', afterMax: 2, isReadAfterStart: true },
  { file: newestSegment, calls: WRITES, afterMax: 1 },
];

type Scenario = Pick<JudgedInstance, 'instance' | 'judged'>;

/** A process that dies sooner after its start is made to wait by its supervisor. */
const WELL_AFTER_MS = 1_100;
/** For the write that is to fail, and from there for the end of the process. */
const FAILED = { timeoutMs: 60_000 };
const ENDED = { timeoutMs: 30_000 };

async function failOnce(
  { instance, judged }: Scenario,
  { number, seed, random, run }: Round,
): Promise<RoundReport> {
  const failure = FAILURES[number % FAILURES.length];
  if (!failure) throw new Error('no failure for this round');
  const workload = startWorkload(judged, { seed, run }, WORKLOAD);
  const { done: before, summary } = await during(workload, async () => {
    await pass(WELL_AFTER_MS);
    if (failure.isReadAfterStart) await restartDataPlane(instance);
    const pid = instance.pid('data plane');
    await failUntilItEnds(instance, pid, failure, 1 + random.below(failure.afterMax));
    return pid;
  });
  const problems = await problemsOf(judged, compareCounters);
  if (instance.pid('data plane') === before) problems.push('the data plane went on after its disk failed');
  return { counts: { writeErrors: 1, ...summary }, problems };
}

const WORKLOAD = { senders: 6, batchItems: 200 };

/** The tracer lets the nth call fail; it ends with the process, which has to end by itself. */
async function failUntilItEnds(
  instance: Instance,
  pid: number,
  { file, calls }: Failure,
  nth: number,
): Promise<void> {
  const inject = `inject=${calls}:error=EIO:when=${nth}+`;
  const newest = () => file(instance.dataDir);
  // The log may go on to the next segment just now: the one that is traced is written no more then.
  while (!(await failCalls(pid, newest, ['-e', `trace=${calls}`, '-e', inject])));
}

/** False where nothing failed and there is a newer file. */
async function failCalls(pid: number, newest: () => string, what: string[]): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-tracer-'));
  const output = join(folder, 'calls');
  const path = newest();
  const args = ['-q', '-o', output, '-f', '-p', String(pid), '-P', path, ...what];
  const tracer = spawn('strace', args, { stdio: 'ignore' });
  const hasEnded = () => tracer.exitCode !== null || tracer.signalCode !== null || undefined;
  const isInjected = () => existsSync(output) && readFileSync(output, 'utf8').includes('(INJECTED)');
  const hasFailedOrIsOld = () => {
    return hasEnded() ?? (isInjected() || (newest() === path ? undefined : false));
  };
  try {
    if (!(await seenInTime(hasFailedOrIsOld, FAILED, `a write of ${path} that can be made to fail`))) {
      return false;
    }
    return await seenInTime(hasEnded, ENDED, 'the end of a data plane whose disk has failed');
  } finally {
    tracer.kill('SIGKILL');
    // Two at once on one process there cannot be.
    await seenInTime(hasEnded, ENDED, 'the end of the tracer');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** That is sealed next (infra/key-table/sealed-file.ts). */
function nextKeyFile(dataDir: string): string {
  const last = Math.max(0, ...keyFiles(dataDir));
  return join(dataDir, 'keys', `${String(last + 1).padStart(10, '0')}.sealed`);
}

function newestKeyFile(dataDir: string): string {
  const last = Math.max(0, ...keyFiles(dataDir));
  return join(dataDir, 'keys', `${String(last).padStart(10, '0')}.sealed`);
}

function keyFiles(dataDir: string): number[] {
  const names = readdirSync(join(dataDir, 'keys')).filter((name) => name.endsWith('.sealed'));
  return names.map((name) => Number.parseInt(name, 10));
}

function newestSegment(dataDir: string): string {
  const folder = join(dataDir, 'log');
  const names = readdirSync(folder).filter((name) => name.endsWith('.seg'));
  return join(folder, names.sort().at(-1) ?? '');
}
