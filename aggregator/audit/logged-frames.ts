import type { EventLogReader, LogFrame } from '../../infra/ports/event-log.ts';
import { Fatal } from '../../schemas/failures.ts';
import { decodeFrame, type Frame } from '../../schemas/stored/frame.ts';
import { readTimes } from '../../schemas/stored/record.ts';
import type { Range } from '../store/ranges.ts';

/** What of the log is looked at: from a frame on that it still holds, up to what is loaded. */
export interface LogSpan {
  partition: number;
  from: number;
  to: number;
  /** Events created earlier are left out: some of their frames may be deleted. 0 when no frame is deleted. */
  sinceMs: number;
  /** Ranges that leave lines out, in order. */
  drops: Array<Pick<Range, 'lo' | 'hi' | 'dropped'>>;
}

export interface LoggedFrame {
  frame: Frame;
  /** Whether the load had to count the event of this number. */
  isCounted: (event: number) => boolean;
}

const READ_BYTES_MAX = 4 * 1024 * 1024;

/** Every frame of the span that this project wrote, in order, a few megabytes at a time. */
export async function* loggedFrames(
  reader: EventLogReader,
  { partition, from, to, sinceMs, drops }: LogSpan,
): AsyncGenerator<LoggedFrame[]> {
  const isDropped = createDropCheck(drops);
  for (let at = from; at < to; ) {
    const frames = await reader.read(partition, at, READ_BYTES_MAX);
    yield frames
      .filter(({ position }) => position < to)
      .flatMap((frame) => loggedFrame(frame, sinceMs, isDropped));
    const next = frames.at(-1)?.next;
    if (next === undefined) throw new Fatal('log_ends_early', `The log ends before position ${to}.`);
    at = next;
  }
}

function loggedFrame(
  { position, bytes, foreign }: LogFrame,
  sinceMs: number,
  isDropped: (position: number, lines: number) => (line: number) => boolean,
): LoggedFrame[] {
  if (foreign !== undefined || bytes.length === 0) {
    isDropped(position, 0);
    return [];
  }
  const frame = decodeFrame(bytes);
  const dropped = isDropped(position, frame.eventCount);
  const isCounted = (event: number): boolean =>
    !dropped(event) && readTimes(frame.records, event).createdAtMs >= sinceMs;
  return [{ frame, isCounted }];
}

/**
 * For frames in log order, returns which lines of each are dropped. The numbers of dropped lines count from
 * the beginning of their range. The argument is where a frame begins and how many lines it has.
 */
function createDropCheck(drops: LogSpan['drops']) {
  let at = 0;
  let before = 0;
  return (position: number, lines: number) => {
    while ((drops[at]?.hi ?? Number.POSITIVE_INFINITY) <= position) at += 1;
    const range = drops[at];
    if (!range || position < range.lo) return () => false;
    if (position === range.lo) before = 0;
    const first = before;
    before += lines;
    const dropped = new Set(range.dropped);
    return (line: number) => dropped.has(first + line);
  };
}
