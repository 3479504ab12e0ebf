import { ERROR_STATUS, errorBody, type Rejection } from '../error-codes.ts';
import { accepts } from './accepts.ts';

const PROBLEM_TYPE = 'application/problem+json';

/** A request-level error as its client asked for it. */
export interface ErrorResponse {
  mediaType: 'application/json' | typeof PROBLEM_TYPE;
  body: string;
}

/** `accept`: the header of the request. */
export function errorResponse(
  rejection: Rejection,
  { requestId, accept }: { requestId: string; accept: string | undefined },
): ErrorResponse {
  if (!accepts(accept, PROBLEM_TYPE)) {
    return { mediaType: 'application/json', body: errorBody(rejection, requestId) };
  }
  return { mediaType: PROBLEM_TYPE, body: problemBody(rejection, requestId) };
}

/** RFC 9457: the members of the usual error, and those of the standard. */
function problemBody(rejection: Rejection, requestId: string): string {
  const { code, message, param, details } = rejection;
  const title = `${code.charAt(0).toUpperCase()}${code.slice(1).replaceAll('_', ' ')}`;
  return JSON.stringify({
    type: `urn:metergate:error:${code}`,
    title,
    status: ERROR_STATUS[code],
    detail: message,
    code,
    ...(param === undefined ? {} : { param }),
    ...(details === undefined ? {} : { details }),
    requestId,
  });
}
