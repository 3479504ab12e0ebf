import { timestampMs } from '../../schemas/primitives/timestamp.ts';

/** Of a request's `at`, whose format was checked with the query; now without one. Milliseconds since 1970. */
export function timeOf(at: string | undefined, nowMs: number): number {
  return (at === undefined ? undefined : timestampMs(at)) ?? nowMs;
}
