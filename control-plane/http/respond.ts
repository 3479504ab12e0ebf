import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import { createRejectionLog, type RejectionLog } from '../../infra/platform/rejection-log.ts';
import { createRequestIds } from '../../infra/platform/request-ids.ts';
import { SENT_METHOD } from '../../infra/platform/sent-method.ts';
import { asTransient } from '../../infra/postgres/unavailable.ts';
import { ERROR_STATUS, type Rejection } from '../../schemas/error-codes.ts';
import { Rejected, Transient } from '../../schemas/failures.ts';
import { errorResponse } from '../../schemas/http/error-response.ts';
import { RESPONSE_GUARDS } from '../../schemas/http/response-guards.ts';
import { API_VERSION } from '../../schemas/route.ts';
import type { HttpMetrics } from '../metrics.ts';

/** Wraps everything: the headers that every response has, the error body, the count. */
export function respondAlways(log: Logger, metrics: HttpMetrics): Middleware {
  const requestIds = createRequestIds();
  const rejections = createRejectionLog(log);

  return async (ctx, next) => {
    const startedMs = performance.now();
    const requestId = requestIds(ctx.get('X-Request-Id'));
    ctx.state.requestId = requestId;
    // mutant: headers-in-the-log
    ctx.set('X-Request-Id', requestId);
    ctx.set('X-API-Version', API_VERSION);
    // A page may set its own caching.
    ctx.set(RESPONSE_GUARDS);
    try {
      await next();
    } catch (error) {
      if (ctx.req.destroyed && !ctx.req.complete) return; // the client disconnected: no response is needed
      reject(
        ctx,
        rejectionFor(error, (err) => log.error({ err, requestId }, 'a request failed')),
      );
    } finally {
      reportRejection(ctx, rejections);
      metrics.responded(String(ctx.state.operationId ?? 'none'), ctx.status, performance.now() - startedMs);
    }
  };
}

function reportRejection(ctx: Context, rejections: RejectionLog): void {
  const { path, status } = ctx;
  const { requestId, rejectedCode: code } = ctx.state;
  if (code === undefined) return;
  rejections.rejected(status, () => {
    const method = ctx.get(SENT_METHOD) || ctx.method;
    return { requestId, method, path, code, traceparent: ctx.get('traceparent') };
  });
}

/** Responds with the error body. */
export function reject(ctx: Context, rejection: Rejection): void {
  ctx.state.rejectedCode = rejection.code;
  ctx.status = ERROR_STATUS[rejection.code];
  if (isForLater(ctx)) ctx.set('Retry-After', '1');
  const accept = ctx.get('accept') || undefined;
  const { mediaType, body } = errorResponse(rejection, { requestId: String(ctx.state.requestId), accept });
  ctx.set('Content-Type', mediaType);
  ctx.body = body;
}

/** Without a time of its own. */
function isForLater({ status, response }: Context): boolean {
  return (status === 503 || status === 429) && !response.get('Retry-After');
}

function rejectionFor(error: unknown, onUnexpected: (error: unknown) => void): Rejection {
  if (error instanceof Rejected) return error.rejection;
  if (asTransient(error) instanceof Transient) {
    return { code: 'unavailable', message: 'A dependency is temporarily unavailable. Retry the request.' };
  }
  onUnexpected(error);
  return { code: 'internal', message: 'An internal error occurred. Report its requestId.' };
}
