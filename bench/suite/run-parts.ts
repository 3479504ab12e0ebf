import { unlessAborted } from '../interruption.ts';
import { shortFailure } from './short-failure.ts';
import type { SuiteResult } from './suite-result.ts';

export interface PartsRun {
  begin: (name: string) => Promise<void>;
  interrupted: AbortSignal;
  /** How long a part that handles the interruption itself may take to end; others are left at once. */
  graceMs: Record<string, number>;
  say?: (text: string) => void;
}

/** One after the other: a failing part is reported and does not stop the next. */
export async function runParts(
  names: readonly string[],
  { begin, interrupted, graceMs, say = (text) => process.stderr.write(text) }: PartsRun,
  result: Pick<SuiteResult, 'seconds' | 'failed' | 'interrupted'>,
): Promise<void> {
  for (const name of names) {
    if (interrupted.aborted) break;
    const startedAt = performance.now();
    say(`${name} …\n`);
    try {
      await unlessAborted(begin(name), interrupted, graceMs[name]);
    } catch (error) {
      result.failed[name] = interrupted.aborted ? 'interrupted' : shortFailure((error as Error).message);
      if (!interrupted.aborted) say(`${(error as Error).stack}\n`);
    }
    result.seconds[name] = Math.round((performance.now() - startedAt) / 1_000);
  }
  if (interrupted.aborted) result.interrupted = true;
}
