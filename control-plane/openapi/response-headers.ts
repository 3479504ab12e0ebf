import { type Route, readsBody } from '../../schemas/route.ts';

/** Response headers, by the names of the references to them. */
export const RESPONSE_HEADERS = {
  'X-API-Version': {
    required: true,
    description: 'The version of the API, on every response.',
    schema: { type: 'string', const: 'v1' },
  },
  'X-Request-Id': {
    required: true,
    description:
      'The id of the request: yours if you sent at most 128 visible ASCII characters, otherwise a new one.',
    schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
  },
  ETag: {
    required: true,
    description: 'The version of the object, for `If-Match` and `If-None-Match`.',
    schema: { type: 'string', pattern: '^"[A-Za-z0-9_-]{22}"$' },
  },
  'Idempotent-Replayed': {
    description:
      '`true` if this is the stored response of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
  'X-Ignored-Fields': {
    description:
      'The unknown fields of the body, separated by commas; error responses have it too. For usage ' +
      'events the distinct names, at most ten.',
    schema: { type: 'string' },
  },
  'X-Item-Errors': {
    description: 'The number of items of the batch with an error. Left out if there are none.',
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
  },
  'X-Unmetered-Events': {
    description: 'The number of events that no meter counts. Left out if there are none.',
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
  },
  'RateLimit-Policy': {
    description:
      'The rate limit of the key: `q` requests in `w` seconds (IETF draft). Left out if it has none.',
    schema: { type: 'string' },
  },
  RateLimit: {
    description: 'How many requests are left (`r`), and in how many seconds all of them are there (`t`).',
    schema: { type: 'string' },
  },
  'Preference-Applied': {
    description: 'The preferences of `Prefer` that were applied.',
    schema: { type: 'string', enum: ['handling=strict', 'numbers=text', 'handling=strict, numbers=text'] },
  },
};

/** References to the headers of a success. */
export function responseHeaders(route: Route): Record<string, unknown> {
  const names: Array<keyof typeof RESPONSE_HEADERS> = ['X-API-Version', 'X-Request-Id'];
  if (route.etag) names.push('ETag');
  const isReplayed = route.method === 'POST' && route.access !== 'public' && !route.ignoresIdempotencyKey;
  if (isReplayed) names.push('Idempotent-Replayed');
  if (route.access === 'public') return referencesTo(names);
  if (readsBody(route)) names.push('X-Ignored-Fields');
  if (countsItems(route)) names.push('X-Item-Errors');
  if (route.plane === 'data' && route.status === 204) names.push('X-Unmetered-Events');
  if (route.plane === 'control') names.push('RateLimit-Policy', 'RateLimit');
  names.push('Preference-Applied');
  return referencesTo(names);
}

/** A response with a result per item. */
function countsItems({ plane, response }: Route): boolean {
  return plane === 'data' && Object.hasOwn((response as { properties?: object }).properties ?? {}, 'summary');
}

export function referencesTo(names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
