import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { API_VERSION, JSON_TYPE } from '../../infra/http/response-head.ts';
import type { RejectionLog } from '../../infra/platform/rejection-log.ts';
import { createRequestIds } from '../../infra/platform/request-ids.ts';
import { ERROR_STATUS, errorBody, type Rejection } from '../../schemas/error-codes.ts';
import { RESPONSE_GUARDS } from '../../schemas/http/response-guards.ts';

/** One request for a page of a process, and its response, which has the headers of every response. */
export interface PageExchange {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  /** Without the query. */
  path: string;
  search: URLSearchParams;
}

/** A listener for pages that are served without the API around them. */
export function pageListener(respond: (exchange: PageExchange) => void): RequestListener {
  const requestIds = createRequestIds();
  return (request, response) => {
    const { url = '' } = request;
    const mark = url.indexOf('?');
    const requestId = requestIds(request.headers['x-request-id'] as string | undefined);
    const headers = { 'x-api-version': API_VERSION, 'x-request-id': requestId, ...RESPONSE_GUARDS };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const path = mark < 0 ? url : url.slice(0, mark);
    const search = new URLSearchParams(mark < 0 ? '' : url.slice(mark));
    respond({ request, response, requestId, path, search });
  };
}

export function sendPage({ response }: PageExchange, status: number, body: unknown): void {
  response.writeHead(status, JSON_TYPE).end(JSON.stringify(body));
}

/** Responds with the error body, and logs it. */
export function rejectPage(
  { request, response, requestId, path }: PageExchange,
  rejection: Rejection,
  { rejections, headers = {} }: { rejections?: RejectionLog | undefined; headers?: Record<string, string> },
): void {
  const { code } = rejection;
  const status = ERROR_STATUS[code];
  response.writeHead(status, { ...JSON_TYPE, ...headers }).end(errorBody(rejection, requestId));
  rejections?.rejected(status, () => ({ requestId, method: String(request.method), path, code }));
}
