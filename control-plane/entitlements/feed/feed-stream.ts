import { Readable } from 'node:stream';
import { timestampText } from '../../../schemas/primitives/timestamp.ts';
import type { ChangeStream, Watched } from './watched-customers.ts';

/** One viewer's stream of server-sent events. */
export interface FeedStream extends ChangeStream {
  /** `close` when it has ended, been cut off, or lost its client. */
  body: Readable;
  /** A customer of which everything has to be sent. */
  expect(customer: Watched): void;
  /** Sends what it waits for, as far as the client takes it. */
  pump(): void;
  /** To all alike. */
  say(event: Buffer): void;
  /** A turn of changes begins. */
  begin(): void;
  end(): void;
}

interface FeedStreamOptions {
  /** Of the clock of the acknowledgements, whose times `asOf` has. */
  nowMs: number;
  /** False: customers that are not sent up to `ready` are not of this stream. */
  isResumed: boolean;
  /** The position of the feed, as the id of an event. */
  position(): string;
  /** Of so many bytes, which its client has not taken yet. May destroy the stream. */
  onWrite(bytes: number): void;
  onCut(): void;
}

/** Beyond it no further customer is sent before the client has taken some. */
const SNAPSHOT_BYTES = 64 * 1024;
/** Left when a turn begins: a client that reads more slowly than its customers change is cut off. */
export const UNREAD_BYTES_MAX = 256 * 1024;
/** With all that one turn writes, before the client could take any of it. */
export const TURN_BYTES_MAX = 4 * 2 ** 20;

/**
 * Events have ids only while no customer waits to be sent: a client that resumes at an id has had everything
 * up to it.
 */
export function createFeedStream(options: FeedStreamOptions): FeedStream {
  const { nowMs, isResumed, position, onWrite, onCut } = options;
  const waiting = new Set<Watched>();
  const body = new Readable({ highWaterMark: SNAPSHOT_BYTES, read: () => pumpSoon() });
  let isReady = false;
  let isEnded = false;

  function write(event: Buffer | string): void {
    if (isEnded || body.destroyed) return;
    body.push(event);
    onWrite(event.length);
    cutBeyond(TURN_BYTES_MAX, body, onCut);
  }

  function writeWithId(event: Buffer): void {
    if (isReady && waiting.size === 0) write(`id: ${position()}\n`);
    write(event);
  }

  /** Called by the stream in the middle of a push. */
  function pumpSoon(): void {
    if (waiting.size > 0) setImmediate(pump);
  }

  function pump(): void {
    for (const customer of waiting) {
      if (isEnded || body.destroyed || body.readableLength > SNAPSHOT_BYTES) return;
      if (!customer.state) continue;
      waiting.delete(customer);
      write(customer.whole());
    }
    if (waiting.size > 0 || isReady) return;
    isReady = true;
    writeWithId(READY);
  }

  // The response's head is on its way with it. A client cannot tell by that how its clock and ours differ:
  // the `Date` of a response may be a second old.
  write(`event: begin\ndata: {"now":"${timestampText(nowMs)}","resumed":${isResumed}}\n\n`);
  return {
    body,
    expect(customer) {
      waiting.add(customer);
      isReady = false;
    },
    pump,
    change(customer, event) {
      if (waiting.has(customer)) pump();
      else writeWithId(event);
    },
    say: write,
    begin: () => cutBeyond(UNREAD_BYTES_MAX, body, onCut),
    end() {
      if (!isEnded && !body.destroyed) body.push(null);
      isEnded = true;
    },
  };
}

const READY = Buffer.from('event: ready\ndata: {}\n\n');

function cutBeyond(bytesMax: number, body: Readable, onCut: () => void): void {
  // mutant: slow-feed-kept
  if (body.destroyed || body.readableLength <= bytesMax) return;
  onCut();
  body.destroy();
}
