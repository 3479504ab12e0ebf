import { Readable } from 'node:stream';
import { eventJson, ownerIn } from './event-line.ts';

/** Which events a viewer sees; of its environment in any case. */
export interface LiveFilter {
  customerId?: string | undefined;
  meterKey?: string | undefined;
}

/** One viewer's stream of server-sent events. */
export interface LiveStream {
  /** `close` when it has ended, been cut off, or lost its client. */
  body: Readable;
  /** An event of its environment. */
  offer(line: Buffer): void;
  /** Some events were passed over before they were read. */
  gap(): void;
  /** A second has passed: says how many events were left out in it. */
  second(): void;
  heartbeat(): void;
  end(): void;
}

/** Of one second. */
export const EVENTS_MAX = 100;
/** Beyond it no further event is kept for the client: up to a hundred of the largest ones come at once. */
const UNREAD_BYTES_MAX = 256 * 1024;
/** A client that takes nothing of what waits for it is cut off. */
const STALLED_SECONDS_MAX = 10;

export function createLiveStream({ customerId, meterKey }: LiveFilter): LiveStream {
  const body = new Readable({ highWaterMark: UNREAD_BYTES_MAX, read: () => undefined });
  let isEnded = false;
  let sent = 0;
  let leftOut = 0;
  let hasGap = false;
  const stall = createStallWatch(body);

  function write(text: string): void {
    if (isEnded || body.destroyed) return;
    const bytes = Buffer.from(text);
    stall.written(bytes.length);
    body.push(bytes);
  }

  function isWanted(line: Buffer): boolean {
    if (customerId === undefined && meterKey === undefined) return true;
    const owner = ownerIn(line);
    if (owner === undefined) return false;
    return matches(customerId, owner.customerId) && matches(meterKey, owner.meterKey);
  }

  // The response's head is on its way with it.
  write(': from now on\n\n');
  return {
    body,
    offer(line) {
      if (!isWanted(line)) return;
      if (sent === EVENTS_MAX || body.readableLength > UNREAD_BYTES_MAX) {
        leftOut += 1;
        return;
      }
      write(`event: usage\ndata: ${eventJson(line)}\n\n`);
      sent += 1;
    },
    gap() {
      hasGap = true;
    },
    second() {
      const isComplete = !hasGap;
      if (leftOut > 0 || hasGap)
        write(`event: sampled\ndata: ${JSON.stringify({ leftOut, isComplete })}\n\n`);
      sent = 0;
      leftOut = 0;
      hasGap = false;
      if (stall.isOver()) body.destroy();
    },
    heartbeat: () => write(': heartbeat\n\n'),
    end() {
      if (!isEnded && !body.destroyed) body.push(null);
      isEnded = true;
    },
  };
}

function createStallWatch(body: Readable) {
  let writtenBytes = 0;
  let takenBytes = 0;
  let stalledSeconds = 0;
  return {
    written(bytes: number) {
      writtenBytes += bytes;
    },
    /** Whether nothing of what waits has been taken for too long. Called once in a second. */
    isOver(): boolean {
      const before = takenBytes;
      takenBytes = writtenBytes - body.readableLength;
      const isStalled = body.readableLength > 0 && takenBytes === before;
      stalledSeconds = isStalled ? stalledSeconds + 1 : 0;
      return stalledSeconds >= STALLED_SECONDS_MAX;
    },
  };
}

function matches(wanted: string | undefined, has: string): boolean {
  return wanted === undefined || wanted === has;
}
