import { nextAttempt } from '../../domain/rules/webhook-schedule.ts';
import type { Attempt } from '../send/send.ts';
import type { DueDelivery } from '../store/take-due.ts';

/** An attempt that has ended, with what follows for its delivery. */
export interface Verdict {
  delivery: DueDelivery;
  attempt: Attempt;
  /** Of its endpoint as it was sent to. */
  endpointUpdatedAt: Date;
  /** 1 for the first. */
  number: number;
  startedAtMs: number;
  endedAtMs: number;
  /** `held`: the receiver wants nothing any more, and its endpoint is disabled with this attempt. */
  state: 'succeeded' | 'failed' | 'held' | 'pending';
  /** Of the next attempt, while it is pending. */
  dueAtMs: number | undefined;
}

export interface AttemptTimes {
  endpointUpdatedAt: Date;
  startedAtMs: number;
  endedAtMs: number;
  random: () => number;
}

export function verdictOf(delivery: DueDelivery, attempt: Attempt, times: AttemptTimes): Verdict {
  const { endpointUpdatedAt, startedAtMs, endedAtMs, random } = times;
  const number = delivery.attempts + 1;
  const about = { delivery, attempt, endpointUpdatedAt, number };
  const ended = { ...about, startedAtMs, endedAtMs, dueAtMs: undefined };
  if (attempt.outcome === 'succeeded') return { ...ended, state: 'succeeded' };
  if (attempt.outcome === 'gone') return { ...ended, state: 'held' };
  const { retryAfterMs } = attempt;
  const dueAtMs = nextAttempt({ attemptsMade: number, endedAtMs, retryAfterMs, random });
  return { ...ended, dueAtMs, state: dueAtMs === undefined ? 'failed' : 'pending' };
}
