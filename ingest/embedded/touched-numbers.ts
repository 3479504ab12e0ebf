import type { CommitPart } from '../../infra/ports/engine.ts';
import { FRAME_EVENTS_MAX, NUMBER_BYTES, type TouchedSpan } from '../../schemas/stored/frame.ts';

/** What the parts of a frame touch, each customer and meter once, and which of it each event is of. */
export interface TouchedNumbers {
  /** Behind `eventCount` events that are there. */
  add(part: CommitPart, eventCount: number): void;
  touched(): TouchedSpan[];
  /** What `touched` takes of a frame, at most. */
  touchedBytesMax(): number;
  /** Of so many events, as they are on the log. */
  bytes(eventCount: number): Uint8Array;
  clear(): void;
}

/** A character takes three bytes at most; brackets and two times of 17 digits come with each. */
const CHARACTER_BYTES_MAX = 3;
const SPAN_BYTES_MAX = 40;

export function createTouchedNumbers(): TouchedNumbers {
  const numbers = new Uint16Array(FRAME_EVENTS_MAX);
  const touched = new Map<string, TouchedSpan & { number: number }>();
  let touchedBytesMax = 0;

  /** Returns its number in the frame. */
  function touch({ pair, occurredFromMs, occurredToMs }: TouchedSpan): number {
    const known = touched.get(pair);
    if (!known) {
      const number = touched.size;
      touchedBytesMax += pair.length * CHARACTER_BYTES_MAX + SPAN_BYTES_MAX;
      touched.set(pair, { pair, occurredFromMs, occurredToMs, number });
      return number;
    }
    known.occurredFromMs = Math.min(known.occurredFromMs, occurredFromMs);
    known.occurredToMs = Math.max(known.occurredToMs, occurredToMs);
    return known.number;
  }

  return {
    add({ touched: spans, numbers: inPart, eventCount }, before) {
      const inFrame = spans.map(touch);
      for (let event = 0; event < eventCount; event++) {
        // mutant: numbers-of-another-request
        numbers[before + event] = inFrame[inPart[event] ?? 0] ?? 0;
      }
    },
    touched: () => [...touched.values()],
    touchedBytesMax: () => touchedBytesMax,
    bytes: (eventCount) => new Uint8Array(numbers.buffer, 0, eventCount * NUMBER_BYTES),
    clear() {
      touched.clear();
      touchedBytesMax = 0;
    },
  };
}
