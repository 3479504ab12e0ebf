/** What a response, or the want of one, says about when to send again. */
export interface RetryPolicy {
  /** Upper bound of the first wait. It doubles with each failure in a row, up to the last. */
  firstMs: number;
  lastMs: number;
  /** A server may ask for no longer than this. */
  retryAfterMsMax: number;
  /** After an API key was rejected: keys are replaced by people. */
  unauthorisedMs: number;
}

export const RETRY_POLICY: RetryPolicy = {
  firstMs: 200,
  lastMs: 30_000,
  retryAfterMsMax: 300_000,
  unauthorisedMs: 30_000,
};

/** Any time up to the bound (full jitter), so that clients which failed together do not return together. */
export function backoffMs({ firstMs, lastMs }: RetryPolicy, failures: number): number {
  const bound = Math.min(lastMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.random() * bound;
}

/** Up to a quarter longer: clients that got the same time to wait must not return together either. */
export function spread(milliseconds: number): number {
  return milliseconds * (1 + Math.random() / 4);
}

/** Of the `Retry-After` header: seconds, or a date. 0 when there is none that can be read. */
export function retryAfterMs(policy: RetryPolicy, header: string | null, nowMs: number): number {
  if (header === null || header.trim() === '') return 0;
  const seconds = Number(header);
  const wished = Number.isNaN(seconds) ? Date.parse(header) - nowMs : seconds * 1_000;
  return Number.isNaN(wished) ? 0 : Math.min(Math.max(wished, 0), policy.retryAfterMsMax);
}
