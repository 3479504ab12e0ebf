import { HEADER_KEY_PATTERN } from '../../schemas/resources/fields.ts';
import type { Route } from '../../schemas/route.ts';

/** Headers that a request may carry, by the names of the references to them. */
export const OPTIONAL_HEADERS = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'The same key and body within 24 hours get the first answer again, and change nothing.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: HEADER_KEY_PATTERN },
  },
  'If-Match': {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The ETag of the answer in which you read it: refused with 412 when it was changed since.',
    schema: { type: 'string' },
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'The ETag of the answer that you have: 304 without a body while it is still the same.',
    schema: { type: 'string' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    required: false,
    description:
      '`handling=strict` has unknown fields refused, and usage values that would be rounded. ' +
      '`numbers=text` has every number of format `decimal` answered as a string. Both may be sent.',
    schema: { type: 'string' },
  },
};

/** In path, query and headers, those of the route first. */
export function parametersOf(route: Route): unknown[] {
  const { method, plane, etag, access } = route;
  const optional: Array<keyof typeof OPTIONAL_HEADERS> = [];
  const isSigned = access === 'signature';
  if (plane === 'control' && method === 'POST' && !isSigned) optional.push('Idempotency-Key');
  // What is made new was not read before: it takes neither.
  if (etag && method === 'GET') optional.push('If-None-Match');
  if (route.errors.includes('precondition_failed')) optional.push('If-Match');
  if (access !== 'public' && !isSigned) optional.push('Prefer');
  return [
    ...parametersIn('path', route.params),
    ...parametersIn('query', route.query),
    ...(route.headers ? parametersIn('header', route.headers) : []),
    ...optional.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

function parametersIn(place: string, { properties, required }: Route['params']): unknown[] {
  const named: readonly string[] = required ?? [];
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    // What has a default may be left out.
    required: named.includes(name) && !('default' in schema),
    schema,
  }));
}
