/** A request that was not done. `code` is stable; `message` is for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /**
   * Of the API, also where it was not asked for what it would reject; `no_response`, or `unexpected_response`
   * where something else than the API responded.
   */
  readonly code: string;
  /** Undefined when there was no response. */
  readonly status: number | undefined;
  /** The field or parameter at fault. */
  readonly param: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  /** Say it when you ask for support. */
  readonly requestId: string | undefined;

  constructor(message: string, { status, code, param, details, requestId, cause }: ApiErrorFields) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.status = status;
    this.param = param;
    this.details = details;
    this.requestId = requestId;
  }
}

export interface ApiErrorFields {
  code: string;
  status?: number | undefined;
  param?: string | undefined;
  details?: Record<string, unknown> | undefined;
  requestId?: string | undefined;
  cause?: unknown;
}

/** Of a response that is not 2xx, or whose body is not JSON. */
export function errorOfResponse(status: number, text: string): ApiError {
  const error = errorIn(text);
  if (typeof error?.code === 'string' && typeof error.message === 'string') {
    return new ApiError(error.message, { ...(error as unknown as ApiErrorFields), status });
  }
  const message = `The response has the status ${status} and is not of this API.`;
  return new ApiError(message, { code: 'unexpected_response', status });
}

function errorIn(text: string): Record<string, unknown> | undefined {
  try {
    return (JSON.parse(text) as { error?: Record<string, unknown> } | null)?.error;
  } catch {
    return undefined;
  }
}
