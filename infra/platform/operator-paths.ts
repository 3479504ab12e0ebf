import type { Rejection } from '../../schemas/error-codes.ts';
import { unknownParameter } from '../../schemas/http/query-parameters.ts';

/** The pages of an operator, at these paths exactly: a proxy keeps back what it knows by name. */
export const OPERATOR_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

export const OPERATOR_METHODS = 'GET, HEAD';

const READS = new Set(OPERATOR_METHODS.split(', '));

export function isOperatorRead(method: string | undefined): boolean {
  return READS.has(method ?? '');
}

/** Why one of these pages is rejected for this caller; undefined when it is served. */
export function operatorPageRejection(
  method: string | undefined,
  search: URLSearchParams,
): Rejection | undefined {
  if (!isOperatorRead(method)) return NOT_READ;
  return unknownParameter(search, []);
}

const NOT_READ: Rejection = { code: 'method_not_allowed', message: `This path takes ${OPERATOR_METHODS}.` };

export const NO_SUCH_PAGE: Rejection = {
  code: 'not_found',
  message: 'Here are /healthz, /readyz and /metrics, and nothing else.',
};
