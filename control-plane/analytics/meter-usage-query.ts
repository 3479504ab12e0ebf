import type { Span } from '../../schemas/primitives/calendar.ts';
import { BUCKETS_MAX, type Granularity, POINTS_MAX } from '../../schemas/resources/meter-usage.ts';
import type { Input } from '../../schemas/route.ts';
import type { Routes } from '../../schemas/routes.ts';
import { BY_CUSTOMER } from '../store/read-meter-usage.ts';
import { openSpan } from '../usage/window.ts';
import { invalid, offsetsOf } from './analytics-query.ts';
import { bucketStarts } from './time-buckets.ts';

export type MeterUsageInput = Input<Routes['meterUsage.retrieve']>['query'];

/** The time range in buckets, by what entries are grouped and how they are sorted. */
export interface MeterUsageForm {
  span: Span;
  /** The first one is the span's. */
  starts: readonly number[];
  timezone: string;
  groupBy: readonly string[];
  order: 'time' | 'total';
  isFilled: boolean;
}

/** Throws Rejected for what contradicts itself, and for more entries than a response has. */
export function readForm(query: MeterUsageInput): MeterUsageForm {
  const { granularity, timezone = 'UTC', fill = 'none', limit } = query;
  const { order = granularity ? 'time' : 'total' } = query;
  const span = openSpan(query);
  const starts = startsOf(span, granularity, timezone);
  if (!granularity && fill === 'zero') throw invalid('fill', 'needs a `granularity`');
  const limitMax = Math.floor(POINTS_MAX / starts.length);
  if (limit > limitMax) {
    throw invalid('limit', `must be at most ${limitMax} with ${starts.length} buckets of time`);
  }
  return { span, starts, timezone, groupBy: readGroupBy(query.groupBy), order, isFilled: fill === 'zero' };
}

function startsOf(span: Span, granularity: Granularity | undefined, timezone: string): number[] {
  const offsets = offsetsOf(timezone, span);
  if (!granularity) return [span.fromMs];
  const starts = bucketStarts(span, granularity, { offsets, max: BUCKETS_MAX });
  if (starts) return starts;
  throw invalid(
    'granularity',
    `divides the time range into more than ${BUCKETS_MAX} buckets; request a longer one or less time`,
  );
}

const KEYS_MAX = 3;
const NAME_CHARS_MAX = 64;

function readGroupBy(text: string | undefined): string[] {
  if (text === undefined) return [];
  const names = text.split(',');
  const isName = (name: string) => name.length > 0 && name.length <= NAME_CHARS_MAX;
  if (names.length > KEYS_MAX || new Set(names).size < names.length || !names.every(isName)) {
    throw invalid(
      'groupBy',
      `must be up to ${KEYS_MAX} different names, \`${BY_CUSTOMER}\` or properties, separated by commas`,
    );
  }
  return names;
}
