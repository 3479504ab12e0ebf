import type pino from 'pino';
import type { RejectionLog } from '../../infra/platform/rejection-log.ts';
import type { Response, UsageRequest } from '../../infra/ports/engine.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import { ERROR_STATUS, errorBody, type Rejection } from '../../schemas/error-codes.ts';
import { Fatal, Transient } from '../../schemas/failures.ts';
import type { UsageMetrics } from '../metrics.ts';
import { JSON_BODY, JSON_RETRY, usageResponseHeaders } from './usage-response-headers.ts';

export interface UsageResponsesDeps {
  metrics: UsageMetrics;
  rejections: RejectionLog;
  log: pino.Logger;
  /** Called when the log or the keys cannot be trusted any more. */
  fail: (error: Fatal) => void;
}

/** The ends of a usage request: each sends its response, counts it and logs a rejection. None throws. */
export interface UsageResponses {
  respond(exchange: Exchange, request: UsageRequest, response: Response, created: number): void;
  reject(exchange: Exchange, rejection: Rejection): void;
  fail(exchange: Exchange, error: unknown): void;
}

export function createUsageResponses(deps: UsageResponsesDeps): UsageResponses {
  const { metrics, rejections } = deps;

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

  return { respond, reject, fail };
}

function factsOf({ requestId, method, path }: Exchange, code: string) {
  return { requestId, method, path, code };
}

function codeOf(body: Buffer): string {
  return /"code":"(\w+)"/.exec(body.toString())?.[1] ?? 'unknown';
}

const UNAVAILABLE: Rejection = {
  code: 'unavailable',
  message: 'A dependency is temporarily unavailable. Retry the request.',
};
const INTERNAL: Rejection = { code: 'internal', message: 'Something went wrong on our side.' };

function rejectionOf(error: unknown, { requestId }: Exchange, { log, fail }: UsageResponsesDeps): Rejection {
  // A log or keys that cannot be trusted: the client's retry finds out what is stored.
  // mutant: unreadable-keys-gone-on-with
  if (error instanceof Fatal) fail(error);
  if (error instanceof Transient || error instanceof Fatal) return UNAVAILABLE;
  log.error({ err: error, requestId }, 'a usage request failed');
  return INTERNAL;
}
