import type pino from 'pino';
import type { KeyCache } from '../../domain/api-key-cache.ts';
import type { RejectionLog } from '../../infra/platform/rejection-log.ts';
import type { UsageRequest } from '../../infra/ports/engine.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import { ERROR_STATUS, errorBody, type Rejection } from '../../schemas/error-codes.ts';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import type { BeginUsage } from '../begin-usage.ts';
import { createBufferPool } from '../buffer-pool.ts';
import type { UsageMetrics } from '../metrics.ts';
import type { Admission } from './admission.ts';
import { authoriseUsage } from './authorise.ts';
import { inflate, readBody } from './read-body.ts';
import { readUsageHead, type UsageOperation } from './usage-operation.ts';
import { JSON_BODY, JSON_RETRY, usageResponseHeaders } from './usage-response-headers.ts';

export interface AcceptDeps {
  keys: KeyCache;
  admission: Admission;
  begin: BeginUsage;
  /** True while the disk is nearly full. */
  isDiskLow: () => boolean;
  metrics: UsageMetrics;
  rejections: RejectionLog;
  log: pino.Logger;
  /** Called when the log or the keys cannot be trusted any more. */
  fail: (error: Fatal) => void;
}

/**
 * The path of a usage request, top-down. The response is true when it is sent: `created` and `duplicate` only
 * after their events are durable. Any other response means that nothing was stored, except a 503 after the
 * log or the keys failed: the retry gets the true result.
 */
export function createAccept(deps: AcceptDeps): (exchange: Exchange, operation: UsageOperation) => void {
  const { keys, admission, begin, isDiskLow, metrics, rejections } = deps;
  const pools = { admission, buffers: createBufferPool(BUFFERS_BYTES_MAX), bytesMax: BODY_BYTES_MAX };

  async function accept(exchange: Exchange, operation: UsageOperation): Promise<void> {
    const requested = authoriseUsage(exchange, keys);
    const key = requested instanceof Promise ? await requested : requested;
    if ('code' in key) return reject(exchange, key);

    const head = readUsageHead(exchange, operation);
    if ('code' in head) return reject(exchange, head);
    if (isDiskLow()) return reject(exchange, DISK_LOW);
    const read = await readBody(exchange, key.environment, pools);
    if (read === 'aborted') return;
    if ('code' in read) return reject(exchange, read);
    const whole = head.gzip ? await inflate(read, key.environment, pools) : read;
    if ('code' in whole) return reject(exchange, whole);
    try {
      const { kind, includeEvents, idempotencyKey, isStrict, numbersAsText } = head;
      const { requestId } = exchange;
      const { environment } = key;
      // Member by member: an object that is spread costs a microsecond, and a single event has two.
      await store(exchange, {
        environment,
        kind,
        body: whole.body,
        idempotencyKey,
        includeEvents,
        isStrict,
        numbersAsText,
        requestId,
      });
    } finally {
      whole.release();
    }
  }

  async function store(exchange: Exchange, request: UsageRequest): Promise<void> {
    const begun = begin(request);
    const { response, created, durable } = begun instanceof Promise ? await begun : begun;
    // mutant: response-not-waited-for
    if ((await durable) === 'no_space') return reject(exchange, DISK_LOW);
    const { status, body, release } = response;
    if (status >= 400) rejections.rejected(status, () => factsOf(exchange, codeOf(body)));
    exchange.respond(status, usageResponseHeaders(response, request), body, release);
    metrics.responded(request.kind, status, created);
  }

  function reject(exchange: Exchange, rejection: Rejection): void {
    const status = ERROR_STATUS[rejection.code];
    const headers = status === 503 ? JSON_RETRY : JSON_BODY;
    exchange.respond(status, headers, Buffer.from(errorBody(rejection, exchange.requestId)));
    metrics.rejected(rejection.code);
    rejections.rejected(status, () => factsOf(exchange, rejection.code));
  }

  return (exchange, operation) =>
    void accept(exchange, operation).catch((error) => reject(exchange, rejectionOf(error, exchange, deps)));
}

function factsOf({ requestId, method, path }: Exchange, code: string) {
  return { requestId, method, path, code };
}

function codeOf(body: Buffer): string {
  return /"code":"(\w+)"/.exec(body.toString())?.[1] ?? 'unknown';
}

const BODY_BYTES_MAX = USAGE_LIMITS.bodyBytesMax;
/** That is kept for bodies to come. */
const BUFFERS_BYTES_MAX = 16 * 1024 * 1024;

const DISK_LOW: Rejection = {
  code: 'unavailable',
  message: 'The disk is nearly full; nothing of this request was stored. Send it again later.',
};
const UNAVAILABLE: Rejection = {
  code: 'unavailable',
  message: 'A dependency is temporarily unavailable. Retry the request.',
};
const INTERNAL: Rejection = { code: 'internal', message: 'Something went wrong on our side.' };

function rejectionOf(error: unknown, { requestId }: Exchange, { log, fail }: AcceptDeps): Rejection {
  // A log or keys that cannot be trusted: the client's retry finds out what is stored.
  // mutant: unreadable-keys-gone-on-with
  if (error instanceof Fatal) fail(error);
  if (error instanceof Transient || error instanceof Fatal) return UNAVAILABLE;
  log.error({ err: error, requestId }, 'a usage request failed');
  return INTERNAL;
}
