import { loadavg } from 'node:os';

/** Processes that ran or waited in the last minute: with more than there are cores, times are longer. */
export function loadNow(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}
