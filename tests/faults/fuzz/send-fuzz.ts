import { Readable } from 'node:stream';
import { Client, type Dispatcher } from 'undici';
import { poll } from '../../../infra/platform/poll.ts';
import type { FuzzJudge } from './fuzz-judge.ts';
import { type FuzzRequest, isUsage, type PlaneKeys, TARGET_PATH } from './fuzz-request.ts';

export interface SendFuzzOptions {
  origin: string;
  keys: PlaneKeys;
  judge: FuzzJudge;
  connections: number;
}

const RESPONSE_TIMEOUT_MS = 20_000;
const ENDS_WITHIN = { timeoutMs: 20_000, everyMs: 1 };
const PROBLEMS_MAX = 10;

export interface FuzzReport {
  /** Requests whose response was judged. */
  responded: number;
  /** A sentence for every response that is wrong, or did not come. */
  problems: string[];
}

/** Sends each request on a connection that outlives it, unless it is in chunks. Stops after ten problems. */
export async function sendFuzz(
  requests: Iterable<FuzzRequest>,
  options: SendFuzzOptions,
): Promise<FuzzReport> {
  const source = requests[Symbol.iterator]();
  const report: FuzzReport = { responded: 0, problems: [] };
  const connection = async (): Promise<void> => {
    const line = openLine(options, () => report.responded++);
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

function openLine({ origin, keys, judge }: SendFuzzOptions, onResponse: () => void) {
  const client = new Client(origin, {
    headersTimeout: RESPONSE_TIMEOUT_MS,
    bodyTimeout: RESPONSE_TIMEOUT_MS,
  });
  let closings = 0;
  client.on('disconnect', () => {
    closings += 1;
  });

  async function problem(request: FuzzRequest): Promise<string | undefined> {
    const judgeResponse = judge.expect(request);
    const before = closings;
    const requestedAtMs = Date.now();
    const response = await client
      .request(asSent(request, keys))
      .then(whole, (error: unknown) => error as Error);
    if (response instanceof Error) return described(request, `receives no response: ${response.message}`);
    onResponse();
    const fault = judgeResponse({ ...response, requestedAtMs, respondedAtMs: Date.now() });
    if (fault !== undefined) return described(request, fault);
    // Nothing is read after a last chunk, and the response says so. It may have ended by now.
    if (request.chunked && response.headers.connection === 'close') {
      const ended = await poll(() => closings > before || undefined, ENDS_WITHIN);
      return ended ? undefined : described(request, 'does not end the connection, as its response says');
    }
    return closings === before ? undefined : described(request, 'costs the connection');
  }

  return { problem, close: () => client.destroy() };
}

function asSent(request: FuzzRequest, keys: PlaneKeys): Dispatcher.RequestOptions {
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

function described({ what, target, headers, body }: FuzzRequest, fault: string): string {
  const begins = JSON.stringify(body.toString('latin1', 0, SHOWN_CHARS));
  const head = JSON.stringify({ ...headers, target });
  return `${what}: ${body.length} bytes ${begins} with ${head} ${fault}`;
}
