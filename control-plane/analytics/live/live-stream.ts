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
/** Of events that the client has not taken: more than five seconds of them. Beyond it is cut off. */
const UNREAD_BYTES_MAX = 256 * 1024;

export function createLiveStream({ customerId, meterKey }: LiveFilter): LiveStream {
  const body = new Readable({ highWaterMark: UNREAD_BYTES_MAX, read: () => undefined });
  let sent = 0;
  let leftOut = 0;
  let hasGap = false;

  function write(text: string): void {
    if (body.destroyed || body.readableEnded) return;
    if (!body.push(text) && body.readableLength > UNREAD_BYTES_MAX) body.destroy();
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
      if (sent === EVENTS_MAX) leftOut += 1;
      else write(`event: usage\ndata: ${eventJson(line)}\n\n`);
      if (sent < EVENTS_MAX) sent += 1;
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
    },
    heartbeat: () => write(': heartbeat\n\n'),
    end() {
      if (!body.destroyed) body.push(null);
    },
  };
}

function matches(wanted: string | undefined, has: string): boolean {
  return wanted === undefined || wanted === has;
}
