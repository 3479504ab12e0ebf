/** Every error code a client can see, with its HTTP status. No response has another one. */
export const ERROR_STATUS = {
  invalid_json: 400,
  invalid_request: 400,
  query_too_complex: 400,
  idempotency_key_missing: 400,
  idempotency_key_invalid: 400,
  signature_invalid: 400,
  unauthenticated: 401,
  key_revoked: 401,
  key_expired: 401,
  insufficient_scope: 403,
  publishable_key_not_allowed: 403,
  customer_token_not_allowed: 403,
  secret_key_required: 403,
  not_found: 404,
  unsupported_api_version: 404,
  customer_not_found: 404,
  plan_not_found: 404,
  subscription_not_found: 404,
  feature_not_found: 404,
  meter_not_found: 404,
  endpoint_not_found: 404,
  method_not_allowed: 405,
  already_exists: 409,
  idempotency_key_in_use: 409,
  illegal_transition: 409,
  plan_archived: 409,
  customer_archived: 409,
  meter_archived: 409,
  endpoint_removed: 410,
  precondition_failed: 412,
  payload_too_large: 413,
  batch_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  value_invalid: 422,
  not_reservable: 422,
  event_too_old: 422,
  event_in_future: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  overloaded: 503,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** The error of a rejected request or item. `param` names the field at fault. */
export interface Rejection {
  code: ErrorCode;
  message: string;
  param?: string;
  details?: Record<string, unknown>;
}

/** The body of every request-level error: `{"error":{"code","message","param"?,"details"?,"requestId"}}`. */
export function errorBody(rejection: Rejection, requestId: string): string {
  const { code, message, param, details } = rejection;
  return JSON.stringify({
    error: {
      code,
      message,
      ...(param === undefined ? {} : { param }),
      ...(details === undefined ? {} : { details }),
      requestId,
    },
  });
}
