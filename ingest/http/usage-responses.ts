import type pino from 'pino';
import type { RejectionLog } from '../../infra/platform/rejection-log.ts';
import type { Response, UsageRequest } from '../../infra/ports/engine.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { Fatal, Transient } from '../../schemas/failures.ts';
import type { UsageMetrics } from '../metrics.ts';
import { rejectedRequest, sendRejection } from './send-rejection.ts';
import { usageResponseHeaders } from './usage-response-headers.ts';

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
      const headers = usageResponseHeaders(response, request);
      if (status < 400) exchange.respond(status, headers, body, release);
      else rejectAs(exchange, response, headers);
      metrics.responded(request.kind, status, created);
    } catch (error) {
      fail(exchange, error);
    }
  }

  /** What the engine rejected. */
  function rejectAs(exchange: Exchange, { body, release }: Response, headers: Record<string, string>): void {
    const { error } = JSON.parse(body.toString()) as { error: Rejection };
    release?.();
    const status = sendRejection(exchange, error, headers);
    rejections.rejected(status, () => rejectedRequest(exchange, error.code));
  }

  function reject(exchange: Exchange, rejection: Rejection): void {
    const status = sendRejection(exchange, rejection);
    metrics.rejected(rejection.code);
    rejections.rejected(status, () => rejectedRequest(exchange, rejection.code));
  }

  function fail(exchange: Exchange, error: unknown): void {
    reject(exchange, rejectionOf(error, exchange, deps));
  }

  return { respond, reject, fail };
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
