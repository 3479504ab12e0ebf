import { connect, type Socket } from 'node:net';
import { setTimeout as pass } from 'node:timers/promises';

/** More than the server can take: every connection sends whole requests, whatever becomes of the others. */
export interface Flood {
  /** Resolves when the time is over, with what was offered and what became of it. */
  run(durationMs: number): Promise<FloodCounts>;
}

export interface FloodCounts {
  requestsOffered: number;
  requestsAnswered200: number;
  requestsRefused503: number;
  /** Of these: without a word of when to come again. There should be none. */
  rejectedWithoutRetryAfter: number;
  /** The connection ended without a response. */
  requestsWithoutResponse: number;
  /** Any other response: there should be none. */
  otherResponses: number;
}

export interface FloodOptions {
  port: number;
  /** The request of each connection; called for each send. */
  requests: ReadonlyArray<() => Buffer>;
}

/** A rejected client retries after the time in Retry-After. */
const REJECTED_WAIT_MS = 1_000;
const RESPONSE_TIMEOUT_MS = 20_000;

export function createFlood({ port, requests }: FloodOptions): Flood {
  return {
    async run(durationMs) {
      const counts: FloodCounts = {
        requestsOffered: 0,
        requestsAnswered200: 0,
        requestsRefused503: 0,
        rejectedWithoutRetryAfter: 0,
        requestsWithoutResponse: 0,
        otherResponses: 0,
      };
      const until = performance.now() + durationMs;
      await Promise.all(requests.map((next) => sendUntil(until, { port, next, counts })));
      return counts;
    },
  };
}

interface Sender {
  port: number;
  next: () => Buffer;
  counts: FloodCounts;
}

async function sendUntil(until: number, { port, next, counts }: Sender): Promise<void> {
  while (performance.now() < until) {
    counts.requestsOffered++;
    const head = await sendOnce(port, next());
    const status = head === '' ? undefined : Number(head.slice(9, 12));
    if (status === 200) counts.requestsAnswered200++;
    else if (status === 503) counts.requestsRefused503++;
    else if (status === undefined) counts.requestsWithoutResponse++;
    else counts.otherResponses++;
    if (status === 503 && !RETRY_AFTER.test(head)) counts.rejectedWithoutRetryAfter++;
    if (status !== 200) await pass(Math.max(0, Math.min(REJECTED_WAIT_MS, until - performance.now())));
  }
}

const RETRY_AFTER = /^retry-after: [1-9]/im;
/** Of a rejection, all of them. */
const HEAD_CHARS_MAX = 2_000;

/**
 * The head of the response, '' without one. A connection of its own: after an early rejection half a body
 * may be unsent.
 */
function sendOnce(port: number, request: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let head = '';
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.setTimeout(RESPONSE_TIMEOUT_MS, () => socket.destroy());
    socket.on('connect', () => socket.write(request));
    socket.on('data', (chunk: Buffer) => {
      head += chunk.toString('latin1', 0, HEAD_CHARS_MAX);
      if (head.includes('\r\n\r\n') || head.length >= HEAD_CHARS_MAX) socket.destroy();
    });
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => resolve(head));
  });
}
