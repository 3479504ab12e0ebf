import type { Failing } from './failing.ts';

interface Waiting {
  status: string;
  nextAttemptAt?: string | undefined;
}

interface NextAttempt {
  text: string;
  /** Shown after the text. */
  at?: string;
}

/** Later than this a delivery that is due has been forgotten by its process, or there is none. */
const OVERDUE_MS = 60_000;

/** When a delivery is tried next, or why not; undefined unless it is pending. */
export function nextAttempt(
  { status, nextAttemptAt }: Waiting,
  failing: Pick<Failing, 'pausedUntil'> | undefined,
  nowMs: number,
): NextAttempt | undefined {
  if (status !== 'pending' || nextAttemptAt === undefined) return undefined;
  const dueMs = Date.parse(nextAttemptAt);
  const { pausedUntil } = failing ?? {};
  if (pausedUntil !== undefined && dueMs <= Math.max(nowMs, Date.parse(pausedUntil))) {
    if (Date.parse(pausedUntil) <= nowMs) return { text: 'Paused: one delivery tests the endpoint now' };
    return { text: 'Paused: one delivery tests the endpoint', at: pausedUntil };
  }
  if (dueMs > nowMs) return { text: 'Next attempt', at: nextAttemptAt };
  if (nowMs - dueMs <= OVERDUE_MS) return { text: 'Due now' };
  return { text: 'Overdue: was due', at: nextAttemptAt };
}
