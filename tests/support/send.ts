import { gzipSync } from 'node:zlib';
import type { Api, ApiResponse } from './api.ts';
import type { PlannedRequest } from './generator.ts';
import type { Ledger } from './ledger.ts';
import { severalAtOnce } from './several-at-once.ts';

export interface SendOptions {
  api: Api;
  ledger: Ledger;
  /** Requests in flight. */
  connections: number;
  /** How long one request is repeated before the run fails. */
  patienceMs: number;
  /** Called with the number of items acknowledged so far. */
  onProgress?: (items: number) => void;
  /** Called with each request once its response was judged. */
  onResponded?: (request: PlannedRequest) => void;
}

export interface SendSummary {
  items: number;
  /** Requests that had to be repeated: no response, or 503. */
  repeated: number;
}

/** Sends every request until its response comes, several at a time, and records responses in the ledger. */
export async function sendAll(
  requests: Iterable<PlannedRequest>,
  options: SendOptions,
): Promise<SendSummary> {
  const summary = { items: 0, repeated: 0 };
  await severalAtOnce(requests, options.connections, async (request) => {
    summary.repeated += await sendUntilResponse(request, options);
    summary.items += request.items.length;
    options.onProgress?.(summary.items);
  });
  return summary;
}

/** Resolves with how often it had to be repeated. */
export async function sendUntilResponse(request: PlannedRequest, options: SendOptions): Promise<number> {
  const until = Date.now() + options.patienceMs;
  for (let repeats = 0; ; repeats++) {
    const { response, hasResponse } = await sendOnce(request, options);
    if (hasResponse) {
      options.onResponded?.(request);
      return repeats;
    }
    if (Date.now() > until) throw new Error('a request received no response', { cause: response });
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

export interface Outcome {
  /** Or why none came. */
  response: ApiResponse | Error;
  /** False: it has to be sent again. */
  hasResponse: boolean;
}

/** Sends a request once, and records the response in the ledger. */
export async function sendOnce(
  request: PlannedRequest,
  { api, ledger }: Pick<SendOptions, 'api' | 'ledger'>,
): Promise<Outcome> {
  const requestedAtMs = Date.now();
  const response = await ask(request, api).catch((error: unknown) => error as Error);
  if (response instanceof Error || isUnavailable(response)) {
    // It may have been stored before the response was lost: the next try then sees it as a duplicate.
    ledger.withoutResponse(request, requestedAtMs);
    return { response, hasResponse: false };
  }
  const replayed = response.headers['idempotent-replayed'] === 'true';
  const { status, body } = response;
  ledger.responded(request, { status, replayed, body, requestedAtMs, respondedAtMs: Date.now() });
  return { response, hasResponse: true };
}

function ask(request: PlannedRequest, api: Api): Promise<ApiResponse> {
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

/** 503, or a batch of which an item could not be looked up while a store was down: to be sent again. */
function isUnavailable({ status, body }: ApiResponse): boolean {
  if (status === 503) return true;
  const { results } = (body ?? {}) as { results?: Array<{ error?: { code?: string } }> };
  return Array.isArray(results) && results.some(({ error }) => error?.code === 'unavailable');
}
