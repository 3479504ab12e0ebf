import type { Response, UsageRequest } from '../../infra/ports/engine.ts';
import { ignoredFieldsHeader } from '../../schemas/http/ignored-fields.ts';
import { appliedPreferences } from '../../schemas/http/preferences.ts';

export const JSON_BODY = Object.freeze({ 'content-type': 'application/json' });
export const JSON_RETRY = Object.freeze({ ...JSON_BODY, 'retry-after': '1' });
const JSON_REPLAYED = Object.freeze({ ...JSON_BODY, 'idempotent-replayed': 'true' });

/**
 * The head of the engine's response. Nearly all responses have nothing more than their type: one object
 * serves for all of them.
 */
export function usageResponseHeaders(response: Response, request: UsageRequest): Record<string, string> {
  const { status, replayed, ignored, itemErrors = 0 } = response;
  const { isStrict = false, numbersAsText = false } = request;
  const headers = replayed ? JSON_REPLAYED : status === 503 ? JSON_RETRY : JSON_BODY;
  const hasIgnored = ignored !== undefined && ignored.length > 0;
  if (!hasIgnored && itemErrors === 0 && !isStrict && !numbersAsText) return headers;
  const applied = appliedPreferences({ isStrict, numbersAsText });
  return {
    ...headers,
    ...(hasIgnored ? { 'x-ignored-fields': ignoredFieldsHeader(ignored) } : {}),
    ...(itemErrors > 0 ? { 'x-item-errors': String(itemErrors) } : {}),
    ...(applied === undefined ? {} : { 'preference-applied': applied }),
  };
}
