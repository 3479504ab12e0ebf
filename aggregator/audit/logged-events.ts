import type { EventLogReader } from '../../infra/ports/event-log.ts';
import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import { readTimes } from '../../schemas/stored/record.ts';
import { readRow, rowLines } from '../../schemas/stored/row-lines.ts';
import { splitLines } from '../load/block.ts';
import { changesOf } from '../load/block-pieces.ts';
import { hourOf, keyText } from './hour-sums.ts';
import { type LoggedFrame, type LogSpan, loggedFrames } from './logged-frames.ts';

export interface LoggedEvent {
  /** As {@link keyText} gives it. */
  key: string;
  /** Its row; of a void that of the event that it takes away. */
  line: Buffer;
  change?: ChangeRows;
}

/** Every event of the span that the load had to count, in order, a few megabytes at a time. */
export async function* loggedEvents(reader: EventLogReader, span: LogSpan): AsyncGenerator<LoggedEvent[]> {
  for await (const frames of loggedFrames(reader, span)) yield frames.flatMap(eventsOf);
}

function eventsOf({ frame, isCounted }: LoggedFrame): LoggedEvent[] {
  const changes = changesOf({ frames: [frame] });
  return splitLines(rowLines(frame)).flatMap((line, event) => {
    if (!isCounted(event)) return [];
    const { occurredAtMs } = readTimes(frame.records, event);
    const change = changes[event];
    const key = keyText({ ...readRow(line), hour: hourOf(occurredAtMs) });
    return [{ key, line, ...(change ? { change } : {}) }];
  });
}
