import {
  type FaultOptions,
  type FaultPromise,
  type FaultResult,
  type FaultRounds,
  type RoundReport,
  roundOf,
  type Tally,
} from './promise.ts';

export interface PromiseRun extends Pick<FaultOptions, 'seed' | 'rounds' | 'form'> {
  /** What an earlier run of the same promise and seed has done: the rounds after it are run. */
  resumed?: FaultResult;
  /** After each round, with all that is known so far. */
  onRound?: (result: FaultResult) => void;
  say?: (line: string) => void;
  /** True: no further round, and one that was cut off does not count. */
  isInterrupted?: () => boolean;
}

/**
 * Runs a promise's rounds until one fails, and judges what was done, after an interrupt as well. Never
 * rejects: what is thrown is a problem of the result.
 */
export async function runPromise(promise: FaultPromise, run: PromiseRun): Promise<FaultResult> {
  const result = run.resumed ? judgedPart(run.resumed) : unbegun(promise, run);
  const lacks = promise.lacks?.();
  if (lacks !== undefined) return { ...result, outcome: 'not run', lacks };
  const startedAt = performance.now() - result.seconds * 1_000;
  const take = (report: RoundReport): void => {
    result.seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    add(result, report);
  };

  const { seed, rounds, form, say = () => undefined, isInterrupted = () => false } = run;
  const ends: Parameters<FaultOptions['onEnd']>[0][] = [];
  const onEnd: FaultOptions['onEnd'] = (end) => void ends.unshift(end);
  const opened = await attempt(() => promise.open({ seed, rounds, form, say, onEnd }));
  if ('problems' in opened) {
    if (!isInterrupted()) take(opened);
  } else {
    const running = { opened, result, take, run: { ...run, say, isInterrupted } };
    await runRounds(running);
    await judgeRounds(running);
  }
  // Of what could not be opened nothing was judged.
  const keep = !('problems' in opened) && result.problems.length > 0;
  const left: string[] = [];
  for (const end of ends) {
    try {
      const path = await end({ keep });
      if (typeof path === 'string') left.push(path);
    } catch (error) {
      if (!isInterrupted()) take(failure(error));
    }
  }
  if (left.length > 0) result.leftAt = left.join(' and ');
  return ended(result);
}

interface Running {
  opened: FaultRounds;
  result: FaultResult;
  take(report: RoundReport): void;
  run: PromiseRun & Required<Pick<PromiseRun, 'say' | 'isInterrupted'>>;
}

async function runRounds({ opened, result, take, run }: Running): Promise<void> {
  if (opened.judge && result.roundsJudged > 0) result.judged = tallyOf(result);
  while (result.problems.length === 0 && result.roundsDone < run.rounds) {
    if (run.isInterrupted()) return;
    const report = await attempt(() => opened.round(roundOf(run.seed, result.roundsDone)));
    if (run.isInterrupted()) return;
    take(report);
    result.roundsDone++;
    if (!opened.judge) result.roundsJudged = result.roundsDone;
    run.onRound?.(result);
  }
}

/** An interrupt may have reached the processes too: then only a sound judgement shows something. */
async function judgeRounds({ opened, result, take, run }: Running): Promise<void> {
  if (result.problems.length > 0 || result.roundsJudged === result.roundsDone) return;
  const report = await attempt(async () => (await opened.judge?.()) ?? { counts: {}, problems: [] });
  const [first] = report.problems;
  if (run.isInterrupted() && first !== undefined) {
    run.say(`rounds from ${result.roundsJudged} on are to be run again: ${first.split('\n')[0]}`);
    return;
  }
  take(report);
  if (first !== undefined) return;
  result.roundsJudged = result.roundsDone;
  delete result.judged;
}

/** Without the rounds whose installation was removed and never judged. */
function judgedPart(resumed: FaultResult): FaultResult {
  if (resumed.roundsDone === resumed.roundsJudged) return resumed;
  const { judged, ...result } = resumed;
  if (!judged) return { ...result, ...NOTHING, counts: {}, peaks: {} };
  return { ...result, ...judged, roundsDone: result.roundsJudged };
}

function tallyOf({ seconds, counts, peaks }: FaultResult): Tally {
  return { seconds, counts: { ...counts }, peaks: { ...peaks } };
}

const NOTHING = { roundsDone: 0, roundsJudged: 0, seconds: 0 };

export function unbegun({ promises, title }: FaultPromise, { seed, rounds }: PromiseRun): FaultResult {
  const nothing = { ...NOTHING, counts: {}, peaks: {}, problems: [] };
  return { promises, title, seed, rounds, outcome: 'unfinished', ...nothing };
}

async function attempt<T>(act: () => Promise<T>): Promise<T | RoundReport> {
  try {
    return await act();
  } catch (error) {
    return failure(error);
  }
}

function failure(error: unknown): RoundReport {
  const cause =
    error instanceof Error && error.cause !== undefined ? ` (cause: ${inWords(error.cause)})` : '';
  return { counts: {}, problems: [`${error instanceof Error ? error.stack : error}${cause}`], thrown: true };
}

/** A response may be the cause. */
function inWords(cause: unknown): string {
  const isPlain = typeof cause === 'object' && !(cause instanceof Error);
  return isPlain ? JSON.stringify(cause) : String(cause);
}

function add(result: FaultResult, { counts, peaks = {}, problems, foundBy, thrown }: RoundReport): void {
  if (thrown && result.problems.length === 0) result.thrown = thrown;
  for (const [name, count] of Object.entries(counts)) {
    result.counts[name] = (result.counts[name] ?? 0) + count;
  }
  for (const [name, peak] of Object.entries(peaks)) {
    result.peaks[name] = Math.max(result.peaks[name] ?? Number.NEGATIVE_INFINITY, peak);
  }
  if (foundBy) result.foundBy = [...(result.foundBy ?? []), ...foundBy];
  result.problems.push(...problems.slice(0, PROBLEMS_KEPT));
  const more = problems.length - PROBLEMS_KEPT;
  if (more > 0) result.problems.push(`and ${more} more`);
}

/** One lost frame is a hundred sentences. */
const PROBLEMS_KEPT = 12;

function ended(result: FaultResult): FaultResult {
  const isJudged = result.roundsJudged === result.rounds;
  result.outcome = result.problems.length > 0 ? 'broken' : isJudged ? 'kept' : 'unfinished';
  return result;
}
