import type { Granularity } from '../../schemas/resources/meter-usage.ts';
import { offsetIndex, type ZoneOffset } from './zone-offsets.ts';

/** The dimensions of a breakdown by time. A map: a property may have the name of a member of every object. */
export const TIME_DIMENSIONS: ReadonlyMap<string, Exclude<Granularity, 'week'>> = new Map([
  ['$hour', 'hour'],
  ['$day', 'day'],
  ['$month', 'month'],
]);

/**
 * The local hour, day or month at a time, as a breakdown names it. An hour has its offset from UTC: without
 * it two hours have one name where clocks go back.
 */
export function localLabel(
  atMs: number,
  granularity: Exclude<Granularity, 'week'>,
  offsets: readonly ZoneOffset[],
): string {
  const { offsetMs = 0 } = offsets[offsetIndex(offsets, atMs)] ?? {};
  const shown = new Date(atMs + offsetMs).toISOString();
  if (granularity === 'month') return shown.slice(0, 7);
  if (granularity === 'day') return shown.slice(0, 10);
  return `${shown.slice(0, 13)}:00:00.000${offsetText(offsetMs)}`;
}

/** `Z`, `+05:30`, `-03:00`. */
export function offsetText(offsetMs: number): string {
  if (offsetMs === 0) return 'Z';
  const minutes = Math.floor(Math.abs(offsetMs) / 60_000);
  const digits = (number: number) => String(number).padStart(2, '0');
  return `${offsetMs < 0 ? '-' : '+'}${digits(Math.floor(minutes / 60))}:${digits(minutes % 60)}`;
}
