import type { RoundReport, TorturePromise, TortureResult, TortureRounds } from './promise.ts';

export interface PromiseRun {
  seed: number;
  rounds: number;
  form: 'short' | 'long';
  /** What an earlier run of the same promise and seed has done: the rounds after it are run. */
  resumed?: TortureResult;
  /** After each round, with all that is known so far. */
  onRound?: (result: TortureResult) => void;
  say?: (line: string) => void;
  /** True: no further round, and one that was cut off does not count. */
  isInterrupted?: () => boolean;
}

/** Runs a promise's rounds until one breaks it. Never rejects: what is thrown is a problem of the result. */
export async function runPromise(promise: TorturePromise, run: PromiseRun): Promise<TortureResult> {
  const { isInterrupted = () => false, onRound = () => undefined } = run;
  const result = run.resumed ?? unbegun(promise, run);
  const lacks = promise.lacks?.();
  if (lacks !== undefined) return { ...result, outcome: 'not run', lacks };
  const startedAt = performance.now() - result.seconds * 1_000;
  const take = (report: RoundReport): boolean => {
    result.seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    if (isInterrupted()) return false;
    add(result, report);
    return result.problems.length === 0;
  };

  const { seed, rounds, form, say = () => undefined } = run;
  const opened = await open(promise, { seed, rounds, form, say });
  if ('problems' in opened) return ended(result, take(opened));
  let sound = true;
  while (sound && result.roundsDone < rounds && !isInterrupted()) {
    sound = take(await attempt(() => opened.round(result.roundsDone)));
    if (!isInterrupted()) result.roundsDone++;
    onRound(result);
  }
  if (sound && !isInterrupted() && opened.judge) sound = take(await attempt(() => opened.judge?.()));
  const broken = result.problems.length > 0;
  const leftAt = await opened.close({ keep: broken }).catch((error: unknown) => void take(failure(error)));
  if (broken && leftAt !== undefined) result.leftAt = leftAt;
  return ended(result, sound);
}

export function unbegun({ promises, title }: TorturePromise, { seed, rounds }: PromiseRun): TortureResult {
  const nothing = { roundsDone: 0, seconds: 0, counts: {}, peaks: {}, problems: [] };
  return { promises, title, seed, rounds, outcome: 'unfinished', ...nothing };
}

async function open(
  promise: TorturePromise,
  options: Parameters<TorturePromise['open']>[0],
): Promise<TortureRounds | RoundReport> {
  try {
    return await promise.open(options);
  } catch (error) {
    return failure(error);
  }
}

async function attempt(act: () => Promise<RoundReport> | undefined): Promise<RoundReport> {
  try {
    return (await act()) ?? { counts: {}, problems: [] };
  } catch (error) {
    return failure(error);
  }
}

function failure(error: unknown): RoundReport {
  const cause = error instanceof Error && error.cause !== undefined ? ` (cause: ${error.cause})` : '';
  return { counts: {}, problems: [`${error instanceof Error ? error.stack : error}${cause}`] };
}

function add(result: TortureResult, { counts, peaks = {}, problems }: RoundReport): void {
  for (const [name, count] of Object.entries(counts)) {
    result.counts[name] = (result.counts[name] ?? 0) + count;
  }
  for (const [name, peak] of Object.entries(peaks)) {
    result.peaks[name] = Math.max(result.peaks[name] ?? Number.NEGATIVE_INFINITY, peak);
  }
  result.problems.push(...problems.slice(0, PROBLEMS_KEPT));
  const more = problems.length - PROBLEMS_KEPT;
  if (more > 0) result.problems.push(`and ${more} more`);
}

/** One lost frame is a hundred sentences. */
const PROBLEMS_KEPT = 12;

function ended(result: TortureResult, sound: boolean): TortureResult {
  const finished = sound && result.roundsDone === result.rounds;
  result.outcome = result.problems.length > 0 ? 'broken' : finished ? 'kept' : 'unfinished';
  return result;
}
