import { Rejected } from '../../schemas/failures.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import type { PropertyFilter } from '../store/usage-filter.ts';
import { type ZoneOffset, zoneOffsets } from './zone-offsets.ts';

/** Throws Rejected for a time zone that does not exist. */
export function offsetsOf(timezone: string, span: Span): readonly ZoneOffset[] {
  const offsets = zoneOffsets(timezone, span);
  if (offsets) return offsets;
  const message = 'must be an IANA time zone, like Europe/Berlin or UTC';
  throw invalid('timezone', message);
}

const QUANTILES_MAX = 5;

/** Numbers from 0 to 1, each once. Throws Rejected. */
export function readQuantiles(text: string | undefined, aggregation: Aggregation): number[] {
  if (text === undefined) return [];
  if (aggregation !== 'sum') {
    throw invalid(
      'quantiles',
      `is only for \`sum\` meters; the aggregation of this one is \`${aggregation}\``,
    );
  }
  const levels = text.split(',').map((part) => (/^(0|1|[01]?\.\d+|0\.\d+)$/.test(part) ? Number(part) : -1));
  if (levels.length > QUANTILES_MAX || levels.some((level) => level < 0 || level > 1)) {
    throw invalid('quantiles', `must be up to ${QUANTILES_MAX} numbers from 0 to 1, separated by commas`);
  }
  return [...new Set(levels)];
}

export function propertiesOf(filter: Record<string, string> = {}): PropertyFilter {
  return Object.entries(filter);
}

/** `param` and what is wrong with it, as the end of a sentence. */
export function invalid(param: string, reason: string): Rejected {
  return new Rejected('invalid_request', `\`${param}\` ${reason}.`, { param });
}
