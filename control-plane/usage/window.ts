import { Rejected } from '../../schemas/failures.ts';
import { calendarSpan, type Span } from '../../schemas/primitives/calendar.ts';
import { timestampMs } from '../../schemas/primitives/timestamp.ts';
import type { BreakdownWindow } from '../../schemas/resources/usage.ts';

export interface WindowQuery {
  window?: BreakdownWindow;
  from?: string;
  to?: string;
}

/**
 * The requested span of a breakdown; undefined: everything there is, and for `current_period` the customer's
 * billing period. Throws Rejected when the query contradicts itself.
 */
export function breakdownSpan(
  query: WindowQuery,
  atMs: number,
): { window: BreakdownWindow | 'custom'; span: Span | undefined } {
  const { window, from, to } = query;
  if (from !== undefined || to !== undefined) {
    if (window !== undefined) throw invalid('window', 'cannot be combined with `from` and `to`');
    if (from === undefined) throw invalid('from', 'is required with `to`');
    if (to === undefined) throw invalid('to', 'is required with `from`');
    return { window: 'custom', span: openSpan({ from, to }) };
  }
  if (window === undefined || window === 'current_period' || window === 'all') {
    return { window: window ?? 'current_period', span: undefined };
  }
  return { window, span: calendarSpan(window, atMs) };
}

/** No usage occurs outside. */
const EVER: Span = { fromMs: 0, toMs: Date.UTC(2100, 0, 1) };

/** From ≤ t < to, either end may be open. Throws Rejected when the span is empty. */
export function openSpan({ from, to }: { from?: string; to?: string }): Span {
  const fromMs = from === undefined ? EVER.fromMs : timestampMs(from);
  const toMs = to === undefined ? EVER.toMs : timestampMs(to);
  if (fromMs === undefined) throw invalid('from', 'is not a valid timestamp');
  if (toMs === undefined || fromMs >= toMs) throw invalid('to', 'must be later than `from`');
  return { fromMs, toMs };
}

function invalid(param: string, reason: string): Rejected {
  return new Rejected('invalid_request', `\`${param}\` ${reason}.`, { param });
}
