import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import { createRefusalLog, type RefusalLog } from '../../infra/platform/rejection-log.ts';
import { createRequestIds } from '../../infra/platform/request-ids.ts';
import { SENT_METHOD } from '../../infra/platform/sent-method.ts';
import { asTransient } from '../../infra/postgres/unavailable.ts';
import { ERROR_STATUS, errorBody, type Refusal } from '../../schemas/error-codes.ts';
import { Rejected, Transient } from '../../schemas/failures.ts';
import { ANSWER_GUARDS } from '../../schemas/http/response-guards.ts';
import { API_VERSION } from '../../schemas/route.ts';
import type { HttpMetrics } from '../metrics.ts';

/** Around everything: the headers that every answer carries, the error body, the count. */
export function answerAlways(log: Logger, metrics: HttpMetrics): Middleware {
  const requestIds = createRequestIds();
  const refusals = createRefusalLog(log);

  return async (ctx, next) => {
    const startedMs = performance.now();
    const requestId = requestIds(ctx.get('X-Request-Id'));
    ctx.state.requestId = requestId;
    ctx.set('X-Request-Id', requestId);
    ctx.set('X-API-Version', API_VERSION);
    // A page may say otherwise of caches.
    ctx.set(ANSWER_GUARDS);
    try {
      await next();
    } catch (error) {
      if (ctx.req.destroyed && !ctx.req.complete) return; // the client went away: nobody reads an answer
      refuse(
        ctx,
        refusalFor(error, (err) => log.error({ err, requestId }, 'a request failed')),
      );
    } finally {
      tellRefusal(ctx, refusals);
      metrics.answered(String(ctx.state.operationId ?? 'none'), ctx.status, performance.now() - startedMs);
    }
  };
}

function tellRefusal(ctx: Context, refusals: RefusalLog): void {
  const { path, status } = ctx;
  const { requestId, refusedCode: code } = ctx.state;
  const method = () => ctx.get(SENT_METHOD) || ctx.method;
  if (code !== undefined) refusals.refused(status, () => ({ requestId, method: method(), path, code }));
}

/** Answers with the error body. */
export function refuse(ctx: Context, refusal: Refusal): void {
  ctx.state.refusedCode = refusal.code;
  ctx.status = ERROR_STATUS[refusal.code];
  if (ctx.status === 503) ctx.set('Retry-After', '1');
  ctx.set('Content-Type', 'application/json');
  ctx.body = errorBody(refusal, String(ctx.state.requestId));
}

function refusalFor(error: unknown, onUnexpected: (error: unknown) => void): Refusal {
  if (error instanceof Rejected) return error.refusal;
  if (asTransient(error) instanceof Transient) {
    return { code: 'unavailable', message: 'A store is away or slow. Send the request again in a moment.' };
  }
  onUnexpected(error);
  return { code: 'internal', message: 'Something went wrong here. Tell us the requestId.' };
}
