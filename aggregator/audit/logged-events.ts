import type { EventLogReader } from '../../infra/ports/event-log.ts';
import { readTimes } from '../../schemas/stored/record.ts';
import { readRow, rowLines } from '../../schemas/stored/row-lines.ts';
import { splitLines } from '../load/block.ts';
import { hourOf, keyText } from './hour-sums.ts';
import { type LoggedFrame, type LogSpan, loggedFrames } from './logged-frames.ts';

export interface LoggedEvent {
  /** As {@link keyText} gives it. */
  key: string;
  /** Its row. */
  line: Buffer;
}

/** Every event of the span that the load had to count, in order, a few megabytes at a time. */
export async function* loggedEvents(reader: EventLogReader, span: LogSpan): AsyncGenerator<LoggedEvent[]> {
  for await (const frames of loggedFrames(reader, span)) yield frames.flatMap(eventsOf);
}

function eventsOf({ frame, isCounted }: LoggedFrame): LoggedEvent[] {
  return splitLines(rowLines(frame)).flatMap((line, event) => {
    if (!isCounted(event)) return [];
    const { occurredAtMs } = readTimes(frame.records, event);
    return [{ key: keyText({ ...readRow(line), hour: hourOf(occurredAtMs) }), line }];
  });
}
