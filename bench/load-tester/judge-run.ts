import { unlessAborted } from '../interruption.ts';
import { type CounterQuestion, judgeCounters } from './judge-counters.ts';

/** What the counters say of a run. */
export interface Judgement {
  outcome: 'exactly what was acknowledged' | 'wrong' | 'not read' | 'not judged';
  problems: string[];
}

export const NOT_JUDGED: Judgement = { outcome: 'not judged', problems: [] };

export interface JudgedRun extends Pick<CounterQuestion, 'api' | 'customers' | 'meterKey' | 'ledger'> {
  startedAtMs: number;
  interrupted: AbortSignal;
  /** From the interruption on. */
  hurriedMs?: number;
}

const COUNTED_PATIENCE_MS = 120_000;
/** Long enough for all that one instance can have taken and not counted yet. */
const HURRIED_MS = 15_000;
/** Events may say that they occurred a little before they were sent. */
const SPREAD_MS = 60_000;

/**
 * Compares every counter with what was acknowledged. Never rejects: counters that cannot be read are a
 * problem, but not when the run is interrupted, before or meanwhile; what was found wrong until then is.
 */
export async function judgeRun(run: JudgedRun): Promise<Judgement> {
  const { startedAtMs, interrupted, hurriedMs = HURRIED_MS, ...question } = run;
  const leaving = new AbortController();
  const problems: string[] = [];
  const limits = { patienceMs: COUNTED_PATIENCE_MS, leaving: leaving.signal };
  const months = monthsSince(startedAtMs - SPREAD_MS);
  try {
    const judging = judgeCounters({ ...question, ...limits, months }, problems);
    await unlessAborted(judging, interrupted, hurriedMs);
    return { outcome: problems.length === 0 ? 'exactly what was acknowledged' : 'wrong', problems };
  } catch (error) {
    const outcome = interrupted.aborted ? 'not judged' : 'not read';
    const unread = interrupted.aborted ? [] : [`the counters could not be read: ${(error as Error).message}`];
    return { outcome: problems.length > 0 ? 'wrong' : outcome, problems: [...problems, ...unread] };
  } finally {
    leaving.abort();
  }
}

/** The months that events of the run may have occurred in. */
function monthsSince(ms: number): number[] {
  const now = Date.now();
  const isSame = new Date(ms).toISOString().slice(0, 7) === new Date(now).toISOString().slice(0, 7);
  return isSame ? [now] : [ms, now];
}
