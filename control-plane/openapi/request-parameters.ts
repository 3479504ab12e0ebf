import { HEADER_KEY_PATTERN } from '../../schemas/resources/fields.ts';
import type { Route } from '../../schemas/route.ts';

/** Optional request headers, by the names of the references to them. */
export const OPTIONAL_HEADERS = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A repeated request with the same key and body within 24 hours returns the first response and ' +
      'changes nothing.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: HEADER_KEY_PATTERN },
  },
  'If-Match': {
    name: 'If-Match',
    in: 'header',
    required: false,
    description:
      'The ETag of the object as you read it. If the object has changed since, the response is 412.',
    schema: { type: 'string' },
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description:
      'The ETag of the response that you have. If it has not changed, the response is 304 without a body.',
    schema: { type: 'string' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    required: false,
    description:
      '`handling=strict` rejects unknown fields, and usage values that would be rounded. `numbers=text` ' +
      'returns every number of format `decimal` as a string. Both can be combined.',
    schema: { type: 'string' },
  },
};

/** In path, query and headers, those of the route first. */
export function parametersOf(route: Route): unknown[] {
  const { method, etag, access } = route;
  const optional: Array<keyof typeof OPTIONAL_HEADERS> = [];
  const isSigned = access === 'signature';
  if (takesIdempotencyKey(route)) optional.push('Idempotency-Key');
  // A request that creates an object takes neither.
  if (etag && method === 'GET') optional.push('If-None-Match');
  if (route.errors.includes('precondition_failed')) optional.push('If-Match');
  if (access !== 'public' && !isSigned) optional.push('Prefer');
  return [
    ...parametersIn('path', route.params),
    ...parametersIn('query', route.query),
    ...(route.headers ? parametersIn('header', route.headers) : []),
    ...optional.map((name) => (isRequired(name, route) ? required(name) : refTo(name))),
  ];
}

function isRequired(name: keyof typeof OPTIONAL_HEADERS, { errors }: Route): boolean {
  return name === 'Idempotency-Key' && errors.includes('idempotency_key_missing');
}

function required(name: keyof typeof OPTIONAL_HEADERS): unknown {
  return { ...OPTIONAL_HEADERS[name], required: true };
}

function refTo(name: keyof typeof OPTIONAL_HEADERS): unknown {
  return { $ref: `#/components/parameters/${name}` };
}

export function takesIdempotencyKey({ plane, method, access, ignoresIdempotencyKey }: Route): boolean {
  return plane === 'control' && method === 'POST' && access !== 'signature' && !ignoresIdempotencyKey;
}

function parametersIn(place: string, { properties, required }: Route['params']): unknown[] {
  const named: readonly string[] = required ?? [];
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    // A parameter with a default is optional.
    required: named.includes(name) && !('default' in schema),
    ...(isMap(schema) ? { style: 'deepObject', explode: true } : {}),
    schema,
  }));
}

/** Its values come one by one, as `filter[region]=eu`. */
function isMap(schema: Route['params']['properties'][string] & { type?: string }): boolean {
  return schema.type === 'object';
}
