/**
 * `Retry-After` (RFC 9110 §10.2.3), seconds or a date, in milliseconds from now. Undefined: any other.
 */
export function retryAfterMsOf(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const atMs = /^[A-Z][a-z]{2}, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
