import { gzipSync } from 'node:zlib';
import type { Api, ApiAnswer } from './api.ts';
import type { PlannedRequest } from './generator.ts';
import type { Ledger } from './ledger.ts';

export interface SendOptions {
  api: Api;
  ledger: Ledger;
  /** Requests in flight. */
  connections: number;
  /** How long one request is repeated before the run fails. */
  patienceMs: number;
  /** Called with the items answered so far. */
  onProgress?: (items: number) => void;
  /** Called with each request once its answer was judged. */
  onAnswered?: (request: PlannedRequest) => void;
}

export interface SendSummary {
  items: number;
  /** Requests that had to be repeated: no answer, or 503. */
  repeated: number;
}

/** Sends every request until it is answered, several at a time, and tells the ledger what came back. */
export async function sendAll(
  requests: Iterable<PlannedRequest>,
  options: SendOptions,
): Promise<SendSummary> {
  const source = requests[Symbol.iterator]();
  const summary = { items: 0, repeated: 0 };
  const connection = async (): Promise<void> => {
    for (let next = source.next(); !next.done; next = source.next()) {
      summary.repeated += await sendUntilAnswered(next.value, options);
      summary.items += next.value.items.length;
      options.onProgress?.(summary.items);
    }
  };
  await Promise.all(Array.from({ length: options.connections }, connection));
  return summary;
}

/** Resolves with how often it had to be repeated. */
export async function sendUntilAnswered(request: PlannedRequest, options: SendOptions): Promise<number> {
  const until = Date.now() + options.patienceMs;
  for (let repeats = 0; ; repeats++) {
    const { answer, isAnswered } = await sendOnce(request, options);
    if (isAnswered) {
      options.onAnswered?.(request);
      return repeats;
    }
    if (Date.now() > until) throw new Error('a request found no answer', { cause: answer });
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

export interface Outcome {
  /** Or why none came. */
  answer: ApiAnswer | Error;
  /** False: it has to be sent again. */
  isAnswered: boolean;
}

/** Sends a request once, and tells the ledger what came back. */
export async function sendOnce(
  request: PlannedRequest,
  { api, ledger }: Pick<SendOptions, 'api' | 'ledger'>,
): Promise<Outcome> {
  const askedAtMs = Date.now();
  const answer = await ask(request, api).catch((error: unknown) => error as Error);
  if (answer instanceof Error || isAway(answer)) {
    // Whatever was stored before the answer was lost: the next try sees it as a duplicate.
    ledger.unanswered(request, askedAtMs);
    return { answer, isAnswered: false };
  }
  const replayed = answer.headers['idempotent-replayed'] === 'true';
  const { status, body } = answer;
  ledger.answered(request, { status, replayed, body, askedAtMs, answeredAtMs: Date.now() });
  return { answer, isAnswered: true };
}

function ask(request: PlannedRequest, api: Api): Promise<ApiAnswer> {
  const headers: Record<string, string> = {};
  if (request.kind === 'ndjson') headers['content-type'] = 'application/x-ndjson';
  if (request.gzip) headers['content-encoding'] = 'gzip';
  const body = request.gzip ? gzipSync(request.body, { level: 1 }) : request.body;
  if (request.kind === 'single') {
    headers['idempotency-key'] = request.items[0]?.event?.key ?? '';
    return api.call('POST', '/usage/events', { body, headers });
  }
  const query = request.includeEvents ? '?include=events' : '';
  return api.call('POST', `/usage/events/batch${query}`, { body, headers });
}

/** 503, or a batch of which an item could not be looked up while a store was away: to be sent again. */
function isAway({ status, body }: ApiAnswer): boolean {
  if (status === 503) return true;
  const { results } = (body ?? {}) as { results?: Array<{ error?: { code?: string } }> };
  return Array.isArray(results) && results.some(({ error }) => error?.code === 'unavailable');
}
