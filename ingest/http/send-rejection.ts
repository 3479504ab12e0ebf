import type { RejectedRequest } from '../../infra/platform/rejection-log.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import { ERROR_STATUS, type Rejection } from '../../schemas/error-codes.ts';
import { errorResponse } from '../../schemas/http/error-response.ts';
import { JSON_BODY, JSON_RETRY } from './usage-response-headers.ts';

/** Responds with the error, in the form that the client asked for. Returns its status. */
export function sendRejection(
  exchange: Exchange,
  rejection: Rejection,
  headers: Record<string, string> = {},
): number {
  const { requestId } = exchange;
  const { mediaType, body } = errorResponse(rejection, { requestId, accept: exchange.headers.get('accept') });
  const status = ERROR_STATUS[rejection.code];
  const usual = status === 503 ? JSON_RETRY : JSON_BODY;
  const isUsual = mediaType === 'application/json' && Object.keys(headers).length === 0;
  const all = isUsual ? usual : { ...usual, ...headers, 'content-type': mediaType };
  exchange.respond(status, all, Buffer.from(body));
  return status;
}

/** What a line of the log says of it. */
export function rejectedRequest(
  { requestId, method, path, headers }: Exchange,
  code: string,
): RejectedRequest {
  return { requestId, method, path, code, traceparent: headers.get('traceparent') };
}
