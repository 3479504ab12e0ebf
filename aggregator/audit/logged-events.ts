import type { EventLogReader, LogFrame } from '../../infra/ports/event-log.ts';
import { Fatal } from '../../schemas/failures.ts';
import { canonicalDecimal } from '../../schemas/primitives/decimal.ts';
import { decodeFrame } from '../../schemas/stored/frame.ts';
import { readTimes } from '../../schemas/stored/record.ts';
import { rowLines } from '../../schemas/stored/row-lines.ts';
import { splitLines } from '../load/block.ts';
import type { Range } from '../store/ranges.ts';
import { HOUR_SECONDS, keyText } from './hour-sums.ts';

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

export interface LoggedEvent {
  /** As {@link keyText} gives it. */
  key: string;
  customerId: string;
  /** Beginning of its hour, milliseconds since 1970. */
  hourMs: number;
  /** A decimal's text. */
  value: string;
  /** Its row. */
  line: Buffer;
}

const READ_BYTES_MAX = 4 * 1024 * 1024;

/** Every event of the span that the load had to count, in order, a few megabytes at a time. */
export async function* loggedEvents(
  reader: EventLogReader,
  { partition, from, to, sinceMs, drops }: LogSpan,
): AsyncGenerator<LoggedEvent[]> {
  const isDropped = createDropCheck(drops);
  for (let at = from; at < to; ) {
    const frames = await reader.read(partition, at, READ_BYTES_MAX);
    yield frames
      .filter(({ position }) => position < to)
      .flatMap((frame) => eventsOf(frame, sinceMs, isDropped));
    const next = frames.at(-1)?.next;
    if (next === undefined) throw new Fatal('log_ends_early', `The log ends before position ${to}.`);
    at = next;
  }
}

function eventsOf(
  { position, bytes, foreign }: LogFrame,
  sinceMs: number,
  isDropped: (position: number, lines: number) => (line: number) => boolean,
): LoggedEvent[] {
  if (foreign !== undefined || bytes.length === 0) {
    isDropped(position, 0);
    return [];
  }
  const frame = decodeFrame(bytes);
  const { records, eventCount } = frame;
  const dropped = isDropped(position, eventCount);
  return splitLines(rowLines(frame)).flatMap((line, number) => {
    const { occurredAtMs, createdAtMs } = readTimes(records, number);
    if (dropped(number) || createdAtMs < sinceMs) return [];
    return [readLine(line, occurredAtMs)];
  });
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

const TEXT = '"((?:[^"\\\\]|\\\\.)*)"';
/** environment, customer, meter, id, fingerprint, value: the first columns (schemas/stored/event-row.ts). */
const LINE = new RegExp(`^\\[${TEXT},${TEXT},${TEXT},${TEXT},${TEXT},(-?[\\d.eE+-]+),`);

function readLine(line: Buffer, occurredAtMs: number): LoggedEvent {
  const [, environment, customerId, meterKey, , , number] = LINE.exec(line.toString()) ?? [];
  const value = canonicalDecimal(number ?? '');
  if (
    environment === undefined ||
    customerId === undefined ||
    meterKey === undefined ||
    value === undefined
  ) {
    throw new Fatal('line_unreadable', 'A line of the log is none that this release writes.');
  }
  const hour = Math.floor(occurredAtMs / 1000 / HOUR_SECONDS) * HOUR_SECONDS;
  const names = { environment: text(environment), customerId: text(customerId), meterKey: text(meterKey) };
  return { key: keyText({ ...names, hour }), customerId: names.customerId, hourMs: hour * 1000, value, line };
}

function text(written: string): string {
  return written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
}
