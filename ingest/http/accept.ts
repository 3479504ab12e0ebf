import type pino from 'pino';
import type { KeyCache, StoredKey } from '../../domain/api-key-cache.ts';
import type { RejectionLog } from '../../infra/platform/rejection-log.ts';
import type { Response, UsageRequest } from '../../infra/ports/engine.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import { ERROR_STATUS, errorBody, type Rejection } from '../../schemas/error-codes.ts';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import type { BeginUsage } from '../begin-usage.ts';
import { createBufferPool } from '../buffer-pool.ts';
import type { UsageMetrics } from '../metrics.ts';
import type { Admission } from './admission.ts';
import { authoriseUsage } from './authorise.ts';
import { type BodyOutcome, inflate, type ReadBody, readBody } from './read-body.ts';
import { readUsageHead, type UsageHead, type UsageOperation } from './usage-operation.ts';
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

  function accept(exchange: Exchange, operation: UsageOperation): void {
    try {
      const key = authoriseUsage(exchange, keys);
      if (!(key instanceof Promise)) receive(exchange, operation, key);
      else key.then((found) => receive(exchange, operation, found)).catch((error) => fail(exchange, error));
    } catch (error) {
      fail(exchange, error);
    }
  }

  function receive(exchange: Exchange, operation: UsageOperation, key: StoredKey | Rejection): void {
    const head = 'code' in key ? key : readUsageHead(exchange, operation);
    if ('code' in key) reject(exchange, key);
    else if ('code' in head) reject(exchange, head);
    else if (isDiskLow()) reject(exchange, DISK_LOW);
    else readWhole(exchange, key.environment, head);
  }

  function readWhole(exchange: Exchange, environment: string, head: UsageHead): void {
    const use = (whole: BodyOutcome) =>
      'code' in whole ? reject(exchange, whole) : store(exchange, environment, head, whole);
    readBody(exchange, environment, pools, (read) => {
      if ('code' in read || !head.gzip) use(read);
      else
        inflate(read, environment, pools)
          .then(use)
          .catch((error) => fail(exchange, error));
    });
  }

  function store(exchange: Exchange, environment: string, head: UsageHead, whole: ReadBody): void {
    const { kind, includeEvents, idempotencyKey, isStrict, numbersAsText } = head;
    const { requestId } = exchange;
    const { body, release } = whole;
    // Member by member: an object that is spread costs a microsecond, and a single event has two.
    const request: UsageRequest = {
      environment,
      kind,
      body,
      idempotencyKey,
      includeEvents,
      isStrict,
      numbersAsText,
      requestId,
    };
    begin(request, {
      respond(response, created) {
        respond(exchange, request, response, created);
        release();
      },
      noSpace() {
        reject(exchange, DISK_LOW);
        release();
      },
      fail(error) {
        fail(exchange, error);
        release();
      },
    });
  }

  function respond(exchange: Exchange, request: UsageRequest, response: Response, created: number): void {
    const { status, body, release } = response;
    try {
      if (status >= 400) rejections.rejected(status, () => factsOf(exchange, codeOf(body)));
      exchange.respond(status, usageResponseHeaders(response, request), body, release);
      metrics.responded(request.kind, status, created);
    } catch (error) {
      fail(exchange, error);
    }
  }

  function reject(exchange: Exchange, rejection: Rejection): void {
    const status = ERROR_STATUS[rejection.code];
    const headers = status === 503 ? JSON_RETRY : JSON_BODY;
    exchange.respond(status, headers, Buffer.from(errorBody(rejection, exchange.requestId)));
    metrics.rejected(rejection.code);
    rejections.rejected(status, () => factsOf(exchange, rejection.code));
  }

  function fail(exchange: Exchange, error: unknown): void {
    reject(exchange, rejectionOf(error, exchange, deps));
  }

  return accept;
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
