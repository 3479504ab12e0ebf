import { errorBody } from '../../schemas/error-codes.ts';
import { RESPONSE_GUARDS } from '../../schemas/http/response-guards.ts';
import { headersTooLarge } from './request-head.ts';
import { API_VERSION, statusLine } from './response-head.ts';

export interface RejectedByParser {
  /** Of node's error. */
  code: string | undefined;
  headerBytesMax: number;
  requestId: string;
}

/** The response where node:http could read no request; a client that was merely too slow gets none. */
export function parserRejection({ code, headerBytesMax, requestId }: RejectedByParser): string | undefined {
  if (code === undefined || !code.startsWith('HPE_')) return undefined;
  if (code === 'HPE_HEADER_OVERFLOW') {
    return bareResponse(431, requestId, headersTooLarge(headerBytesMax, requestId).toString());
  }
  const message = 'This is not an HTTP/1.1 request.';
  return bareResponse(400, requestId, errorBody({ code: 'invalid_request', message }, requestId));
}

function bareResponse(status: number, requestId: string, body: string): string {
  const head = [
    `HTTP/1.1 ${statusLine(status)}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-API-Version: ${API_VERSION}`,
    ...Object.entries(RESPONSE_GUARDS).map(([name, value]) => `${name}: ${value}`),
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
