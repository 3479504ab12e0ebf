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
  /** The connection ended without an answer. */
  requestsUnanswered: number;
  /** Any other answer: there should be none. */
  otherAnswers: number;
}

export interface FloodOptions {
  port: number;
  /** The request of each connection; called anew for each send. */
  requests: ReadonlyArray<() => Buffer>;
}

/** A refused client comes again after a while, as it was told to. */
const REFUSED_WAIT_MS = 1_000;
const ANSWER_TIMEOUT_MS = 20_000;

export function createFlood({ port, requests }: FloodOptions): Flood {
  return {
    async run(durationMs) {
      const counts: FloodCounts = {
        requestsOffered: 0,
        requestsAnswered200: 0,
        requestsRefused503: 0,
        requestsUnanswered: 0,
        otherAnswers: 0,
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
    const status = await sendOnce(port, next());
    if (status === 200) counts.requestsAnswered200++;
    else if (status === 503) counts.requestsRefused503++;
    else if (status === undefined) counts.requestsUnanswered++;
    else counts.otherAnswers++;
    if (status !== 200) await pass(Math.max(0, Math.min(REFUSED_WAIT_MS, until - performance.now())));
  }
}

/** The status of the answer. A connection of its own: after an early refusal half a body may be unsent. */
function sendOnce(port: number, request: Buffer): Promise<number | undefined> {
  return new Promise((resolve) => {
    let head = '';
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy());
    socket.on('connect', () => socket.write(request));
    socket.on('data', (chunk: Buffer) => {
      head += head.length < STATUS_CHARS ? chunk.toString('latin1', 0, STATUS_CHARS) : '';
      if (head.length >= STATUS_CHARS) socket.destroy();
    });
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => resolve(head === '' ? undefined : Number(head.slice(9, 12))));
  });
}

/** `HTTP/1.1 200` */
const STATUS_CHARS = 12;
