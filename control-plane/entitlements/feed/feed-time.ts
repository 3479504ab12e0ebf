import { timestampText } from '../../../schemas/primitives/timestamp.ts';
import type { WatchedCustomers } from './watched-customers.ts';

/**
 * By environment, with the time of the server: a client finds out by it that something in between delays the
 * feed. `asOf` is of what was sent, not of what could be. A customer that cannot be read holds it back for
 * its own environment alone, and only while a stream tells of it.
 */
export function createTimeEvents(
  { latestMs, nowMs }: { latestMs: number; nowMs: number },
  watched: Pick<WatchedCustomers, 'all'>,
): (environment: string) => Buffer {
  const asOfMs = new Map<string, number>();
  for (const { environment, streams, asOfMs: own } of watched.all()) {
    if (streams.size > 0) asOfMs.set(environment, Math.min(asOfMs.get(environment) ?? latestMs, own));
  }
  const now = timestampText(nowMs);
  return (environment) => {
    const text = timestampText(asOfMs.get(environment) ?? latestMs);
    return Buffer.from(`event: time\ndata: {"asOf":"${text}","now":"${now}"}\n\n`);
  };
}
