import type { Writable } from 'node:stream';

/** The reader of a log may end before the process that writes it: events are worth more than a log. */
export function outliveReaders(...streams: readonly Writable[]): void {
  for (const stream of streams) stream.on('error', () => undefined);
}
