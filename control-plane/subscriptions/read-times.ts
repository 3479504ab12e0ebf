/** Times in a request body. The schema has checked that each is valid. */
import { Defect, Rejected } from '../../schemas/failures.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { timestampMs } from '../../schemas/primitives/timestamp.ts';

/** Undefined: left out; null: to be removed. */
export function givenTime<None extends null | undefined>(text: string | None): Date | None {
  return typeof text === 'string' ? timeOf(text) : text;
}

function timeOf(text: string): Date {
  const ms = timestampMs(text);
  if (ms === undefined) throw new Defect('a validated timestamp is not valid');
  return new Date(ms);
}

/** Throws Rejected: a trial without an end in the future would be over before it began. */
export function requireTrialAhead(trialEnd: Date | null, nowMs: number): void {
  if (trialEnd !== null && trialEnd.getTime() > nowMs) return;
  throw new Rejected('invalid_request', 'A trialing subscription requires a `trialEnd` in the future.', {
    param: 'trialEnd',
  });
}

/** The latest time that the API accepts; see the accepted timestamps. */
const END_MAX_MS = Date.UTC(2100, 0, 1);

/** Throws Rejected, with the parameter that sets the end. */
export function requirePeriod({ fromMs, toMs }: Span, param: 'currentPeriodEnd' | 'trialEnd'): void {
  const rule =
    toMs <= fromMs
      ? 'must be later than `currentPeriodStart`'
      : toMs >= END_MAX_MS
        ? 'must be before 2100'
        : undefined;
  if (rule !== undefined) throw new Rejected('invalid_request', `\`${param}\` ${rule}.`, { param });
}
