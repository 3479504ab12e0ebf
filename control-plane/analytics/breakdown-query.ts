import { CALENDAR_WINDOWS, type CalendarWindow, type Span } from '../../schemas/primitives/calendar.ts';
import type { BreakdownWindow } from '../../schemas/resources/usage.ts';
import type { Input } from '../../schemas/route.ts';
import type { Routes } from '../../schemas/routes.ts';
import { BY_CUSTOMER } from '../store/read-meter-usage.ts';
import { breakdownSpan } from '../usage/window.ts';
import { invalid, offsetsOf } from './analytics-query.ts';
import { localLabel, TIME_DIMENSIONS } from './local-labels.ts';
import { bucketStarts } from './time-buckets.ts';
import type { ZoneOffset } from './zone-offsets.ts';

export type BreakdownInput = Input<Routes['usage.breakdown']>['query'];

const DAY_MS = 86_400_000;
/** No usage occurs outside. */
const EVER: Span = { fromMs: 0, toMs: Date.UTC(2100, 0, 1) };

/** Throws Rejected for parameters that contradict each other. */
export function checkBreakdown({ dimension, order, fill, filter = {}, window }: BreakdownInput): void {
  const isOfTime = TIME_DIMENSIONS.has(dimension);
  if (order === 'time' && !isOfTime) {
    throw invalid('order', `can be \`time\` with the dimensions ${[...TIME_DIMENSIONS.keys()].join(', ')}`);
  }
  if (fill === 'zero' && order !== 'time') throw invalid('fill', 'needs `order=time`');
  if (fill === 'zero' && window === 'all') throw invalid('fill', 'needs a window with bounds');
  if (Object.hasOwn(filter, BY_CUSTOMER)) {
    throw invalid(`filter[${BY_CUSTOMER}]`, 'is not needed: the customer is in the path');
  }
}

/** As {@link breakdownSpan}; calendar windows are those of the requested time zone. */
export function localBreakdownSpan(query: BreakdownInput, atMs: number) {
  const requested = breakdownSpan(query, atMs);
  const { timezone } = query;
  if (timezone === undefined || !isCalendarWindow(requested.window)) return requested;
  return { ...requested, span: localSpan(requested.window, atMs, timezone) };
}

/** The offsets of the requested time zone in a span; undefined without a zone. */
export function breakdownOffsets(
  { timezone }: BreakdownInput,
  span: Span | undefined,
): readonly ZoneOffset[] | undefined {
  return timezone === undefined ? undefined : offsetsOf(timezone, span ?? EVER);
}

/**
 * The names of all hours, days or months of the span, in order; undefined if entries without usage are not
 * requested. Throws Rejected when there are more than `limit`.
 */
export function filledLabels(
  { dimension, fill, limit, timezone = 'UTC' }: BreakdownInput,
  span: Span | undefined,
): string[] | undefined {
  const granularity = TIME_DIMENSIONS.get(dimension);
  if (fill !== 'zero' || !granularity || !span) return undefined;
  const offsets = offsetsOf(timezone, span);
  const starts = bucketStarts(span, granularity, { offsets, max: limit });
  // Where clocks go back by less than an hour, an hour has two names.
  const changes = offsets.map(({ fromMs }) => fromMs).filter((ms) => span.fromMs < ms && ms < span.toMs);
  const times = [...(starts ?? []), ...changes].sort((a, b) => a - b);
  const labels = new Set(times.map((ms) => localLabel(ms, granularity, offsets)));
  if (starts && labels.size <= limit) return [...labels];
  throw invalid('limit', 'is less than the entries of the window; raise it, or request less time');
}

function isCalendarWindow(window: BreakdownWindow | 'custom'): window is CalendarWindow {
  return CALENDAR_WINDOWS.some((one) => one === window);
}

function localSpan(window: CalendarWindow, atMs: number, timezone: string): Span {
  const near = { fromMs: Math.max(0, atMs - 32 * DAY_MS), toMs: atMs + 32 * DAY_MS };
  const starts = bucketStarts(near, window, { offsets: offsetsOf(timezone, near), max: 100 }) ?? [];
  const at = starts.findLastIndex((ms) => ms <= atMs);
  return { fromMs: starts[at] ?? near.fromMs, toMs: starts[at + 1] ?? near.toMs };
}
