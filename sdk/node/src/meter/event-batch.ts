import { giveBack, takeBuffer } from './body-buffers.ts';

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
const HEAD = ENCODER.encode('{"events":[');
const TAIL = ENCODER.encode(']}');
const COMMA = 0x2c;

/** Of a body, before the first event of it. */
export const BODY_HEAD_BYTES = HEAD.length;
export const BODY_TAIL_BYTES = TAIL.length;

/**
 * Events as the body of their request, in UTF-8. They are not texts: to make and to join those of what a
 * spool has read would take as long as all the rest of sending it.
 */
export interface EventBatch {
  /**
   * With nothing but white space and commas between the events. Of `takeBuffer`: who settles the last of its
   * events gives it back.
   */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Where each event begins in the body, and where it ends. */
  readonly begins: readonly number[];
  readonly ends: readonly number[];
}

/** Of the JSON of each. */
export function batchOf(events: readonly string[]): EventBatch {
  const text = `{"events":[${events.join(',')}]}`;
  const body = takeBuffer(text.length);
  const { read, written } = ENCODER.encodeInto(text, body);
  // Mostly all of it is ASCII.
  if (read !== text.length || written !== text.length) {
    giveBack(body);
    return joined(events.map((event) => ENCODER.encode(event)));
  }
  const [begins, ends]: [number[], number[]] = [[], []];
  let at = BODY_HEAD_BYTES;
  for (const { length } of events) {
    begins.push(at);
    ends.push(at + length);
    at += length + 1;
  }
  return { body, begins, ends };
}

/** Some of its events. */
export function picked({ body, begins, ends }: EventBatch, indexes: readonly number[]): EventBatch {
  return joined(indexes.map((index) => body.subarray(begins[index], ends[index])));
}

/** The events of all of them. */
export function merged(batches: readonly EventBatch[]): EventBatch {
  return joined(
    batches.flatMap(({ body, begins, ends }) => begins.map((begin, at) => body.subarray(begin, ends[at]))),
  );
}

/** The JSON of one of its events. */
export function eventAt({ body, begins, ends }: EventBatch, index: number): string {
  return DECODER.decode(body.subarray(begins[index], ends[index]));
}

/** The JSON of all of them. */
export function eventsOf(batch: EventBatch): string[] {
  return batch.begins.map((_, index) => eventAt(batch, index));
}

/** Writes what surrounds the events, of which the last one ends at `end`, and returns the body. */
export function enclosed(buffer: Uint8Array<ArrayBuffer>, end: number): Uint8Array<ArrayBuffer> {
  buffer.set(HEAD, 0);
  buffer.set(TAIL, end);
  return buffer.subarray(0, end + BODY_TAIL_BYTES);
}

function joined(events: readonly Uint8Array[]): EventBatch {
  const bytes = events.reduce((sum, { length }) => sum + length + 1, 0);
  const buffer = takeBuffer(BODY_HEAD_BYTES + bytes + BODY_TAIL_BYTES);
  const [begins, ends]: [number[], number[]] = [[], []];
  let at = BODY_HEAD_BYTES;
  for (const event of events) {
    if (begins.length > 0) buffer[at++] = COMMA;
    buffer.set(event, at);
    begins.push(at);
    at += event.length;
    ends.push(at);
  }
  return { body: enclosed(buffer, at), begins, ends };
}
