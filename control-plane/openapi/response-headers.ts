import { type Route, readsBody } from '../../schemas/route.ts';

/** What an answer may carry beside its body, by the names of the references to it. */
export const RESPONSE_HEADERS = {
  'X-API-Version': {
    required: true,
    description: 'On every answer, whatever came of the request.',
    schema: { type: 'string', const: 'v1' },
  },
  'X-Request-Id': {
    required: true,
    description: 'Yours, where you sent one of at most 128 visible ASCII characters; else a new one.',
    schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
  },
  ETag: {
    required: true,
    description: 'Of this object as it is: for If-Match and If-None-Match.',
    schema: { type: 'string', pattern: '^"[A-Za-z0-9_-]{22}"$' },
  },
  'Idempotent-Replayed': {
    description: '`true` when the answer was given before, for the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
  'X-Ignored-Fields': {
    description:
      'Names of the fields of the body that are not known here, with commas between them, also beside a ' +
      'refusal; of usage events the distinct ones, at most ten.',
    schema: { type: 'string' },
  },
  'X-Item-Errors': {
    description: 'How many items of the batch were refused. Missing where none was.',
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
  },
  'Preference-Applied': {
    description: 'What was done of `Prefer`.',
    schema: { type: 'string', enum: ['handling=strict', 'numbers=text', 'handling=strict, numbers=text'] },
  },
};

/** References to the headers of a success. */
export function responseHeaders(route: Route): Record<string, unknown> {
  const names: Array<keyof typeof RESPONSE_HEADERS> = ['X-API-Version', 'X-Request-Id'];
  if (route.etag) names.push('ETag');
  if (route.method === 'POST' && route.access !== 'public') names.push('Idempotent-Replayed');
  if (route.access === 'public') return referencesTo(names);
  if (readsBody(route)) names.push('X-Ignored-Fields');
  if (countsItems(route)) names.push('X-Item-Errors');
  names.push('Preference-Applied');
  return referencesTo(names);
}

/** An answer with a result per item. */
function countsItems({ plane, response }: Route): boolean {
  return plane === 'data' && Object.hasOwn((response as { properties?: object }).properties ?? {}, 'summary');
}

export function referencesTo(names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
