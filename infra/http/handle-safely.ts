import type { Logger } from 'pino';
import type { RejectionLog } from '../platform/rejection-log.ts';
import type { Exchange, RequestHandler } from '../ports/http-front.ts';
import { headersTooLarge, internalError } from './request-head.ts';
import { JSON_TYPE } from './response-head.ts';

/** One request at fault must not end the process for all: what the handler throws becomes a 500. */
export function handleSafely(handler: RequestHandler, exchange: Exchange, log: Logger): void {
  try {
    handler(exchange);
  } catch (err) {
    log.error({ err, requestId: exchange.requestId }, 'a request handler threw');
    exchange.respond(500, JSON_TYPE, internalError(exchange.requestId));
  }
}

/** The 431. */
export function rejectHeaders(exchange: Exchange, headerBytesMax: number, rejections: RejectionLog): void {
  const { requestId, method, path } = exchange;
  exchange.respond(431, JSON_TYPE, headersTooLarge(headerBytesMax, requestId));
  rejections.rejected(431, () => ({ requestId, method, path, code: 'headers_too_large' }));
}
