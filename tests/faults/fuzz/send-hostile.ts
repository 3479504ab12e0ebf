import { Readable } from 'node:stream';
import { Client, type Dispatcher } from 'undici';
import { poll } from '../../../infra/platform/poll.ts';
import type { HostileJudge } from './hostile-judge.ts';
import { type HostileRequest, isUsage, TARGET_PATH } from './hostile-request.ts';

export interface SendHostileOptions {
  origin: string;
  keys: PlaneKeys;
  judge: HostileJudge;
  connections: number;
}

/** The control plane's bodies are another environment's: what they make is nobody's customer here. */
export interface PlaneKeys {
  usage: string;
  control: string;
}

const ANSWER_TIMEOUT_MS = 20_000;
const ENDS_WITHIN = { timeoutMs: 20_000, everyMs: 1 };
const PROBLEMS_MAX = 10;

export interface HostileReport {
  /** Requests whose answer was judged. */
  answered: number;
  /** A sentence for every answer that is wrong, or did not come. */
  problems: string[];
}

/** Sends each request on a connection that outlives it, unless it is in chunks. Stops after ten problems. */
export async function sendHostile(
  requests: Iterable<HostileRequest>,
  options: SendHostileOptions,
): Promise<HostileReport> {
  const source = requests[Symbol.iterator]();
  const report: HostileReport = { answered: 0, problems: [] };
  const connection = async (): Promise<void> => {
    const line = openLine(options, () => report.answered++);
    try {
      for (let next = source.next(); !next.done; next = source.next()) {
        const problem = await line.problem(next.value);
        if (problem !== undefined) report.problems.push(problem);
        if (report.problems.length >= PROBLEMS_MAX) break;
      }
    } finally {
      await line.close();
    }
  };
  await Promise.all(Array.from({ length: options.connections }, connection));
  return report;
}

function openLine({ origin, keys, judge }: SendHostileOptions, onAnswer: () => void) {
  const client = new Client(origin, { headersTimeout: ANSWER_TIMEOUT_MS, bodyTimeout: ANSWER_TIMEOUT_MS });
  let closings = 0;
  client.on('disconnect', () => {
    closings += 1;
  });

  async function problem(request: HostileRequest): Promise<string | undefined> {
    const judgeAnswer = judge.expect(request);
    const before = closings;
    const askedAtMs = Date.now();
    const answer = await client
      .request(asSent(request, keys))
      .then(whole, (error: unknown) => error as Error);
    if (answer instanceof Error) return told(request, `finds no answer: ${answer.message}`);
    onAnswer();
    const fault = judgeAnswer({ ...answer, askedAtMs, answeredAtMs: Date.now() });
    if (fault !== undefined) return told(request, fault);
    // Nothing is read behind a last chunk, and the answer says so. It may have ended by now.
    if (request.chunked && answer.headers.connection === 'close') {
      const ended = await poll(() => closings > before || undefined, ENDS_WITHIN);
      return ended ? undefined : told(request, 'does not end the connection, as its answer says');
    }
    return closings === before ? undefined : told(request, 'costs the connection');
  }

  return { problem, close: () => client.destroy() };
}

function asSent(request: HostileRequest, keys: PlaneKeys): Dispatcher.RequestOptions {
  const { target, includeEvents, headers, body, chunked } = request;
  const key = isUsage(target) ? keys.usage : keys.control;
  return {
    method: 'POST',
    path: `${TARGET_PATH[target]}${includeEvents ? '?include=events' : ''}`,
    headers: { ...headers, authorization: `Bearer ${key}` },
    body: chunked ? Readable.from(inPieces(body)) : body,
  };
}

const PIECES = 3;

async function* inPieces(body: Buffer): AsyncGenerator<Buffer> {
  const size = Math.ceil(body.length / PIECES);
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

async function whole({ statusCode, headers, body }: Dispatcher.ResponseData) {
  return { status: statusCode, headers, text: await body.text() };
}

const SHOWN_CHARS = 160;

function told({ what, target, headers, body }: HostileRequest, fault: string): string {
  const begins = JSON.stringify(body.toString('latin1', 0, SHOWN_CHARS));
  const head = JSON.stringify({ ...headers, target });
  return `${what}: ${body.length} bytes ${begins} with ${head} ${fault}`;
}
