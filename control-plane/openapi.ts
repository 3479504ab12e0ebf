import { ERROR_STATUS, type ErrorCode } from '../schemas/error-codes.ts';
import type { Route } from '../schemas/route.ts';
import { ROUTES } from '../schemas/routes.ts';

/** Version of the contract, not of this software. Source: the specification, Versioning. */
const CONTRACT_VERSION = '2026-03-15';

/** The OpenAPI 3.1.0 description of every operation of the route table, and of nothing else. */
export function openApi(): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [operationId, route] of Object.entries<Route>(ROUTES)) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = operationOf(operationId, route);
    paths[route.path] = path;
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Metergate', version: CONTRACT_VERSION, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    paths,
    components: { schemas: { Error: ERROR_SCHEMA }, securitySchemes: SECURITY_SCHEMES },
  };
}

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
};

const ERROR_SCHEMA = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'requestId'],
      properties: {
        code: { type: 'string', enum: Object.keys(ERROR_STATUS) },
        message: { type: 'string' },
        param: { type: 'string' },
        details: { type: 'object' },
        requestId: { type: 'string' },
      },
    },
  },
};

function operationOf(operationId: string, route: Route): Record<string, unknown> {
  return {
    operationId,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.deprecated ? { deprecated: true } : {}),
    ...(route.access === 'public' ? { security: [] } : { security: [{ bearer: [] }, { apiKey: [] }] }),
    ...(route.access === 'public' || route.access === 'any_key' ? {} : { 'x-required-scope': route.access }),
    parameters: parametersOf(route),
    ...(route.body ? { requestBody: { required: true, content: json(route.body) } } : {}),
    responses: responsesOf(operationId, route),
  };
}

const REPLAY_HEADER = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key and body within 24 hours get the first answer again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function parametersOf(route: Route): unknown[] {
  const named = [
    ...parametersIn('path', route.params),
    ...parametersIn('query', route.query),
    ...(route.headers ? parametersIn('header', route.headers) : []),
  ];
  return isReplayable(route) ? [...named, REPLAY_HEADER] : named;
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

function responsesOf(operationId: string, route: Route): Record<string, unknown> {
  const success = { description: route.summary, content: contentOf(operationId, route) };
  return {
    ...(route.deprecated ? {} : { [route.status]: success }),
    ...(operationId === 'service.readiness'
      ? { 503: { ...success, description: 'Something does not.' } }
      : {}),
    ...errorsByStatus(codesOf(route)),
  };
}

function contentOf(operationId: string, route: Route): Record<string, unknown> {
  return operationId === 'service.metrics'
    ? { 'text/plain': { schema: route.response } }
    : json(route.response);
}

function isReplayable(route: Route): boolean {
  return route.plane === 'control' && route.method === 'POST';
}

const KEY_CODES: ErrorCode[] = [
  'unauthenticated',
  'key_revoked',
  'key_expired',
  'publishable_key_not_allowed',
];
const BODY_CODES: ErrorCode[] = ['unsupported_media_type', 'payload_too_large', 'invalid_json'];
const REPLAY_CODES: ErrorCode[] = [
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'idempotency_key_in_use',
];

function codesOf(route: Route): ErrorCode[] {
  if (route.access === 'public') return [...route.errors];
  return [
    ...KEY_CODES,
    ...(route.access === 'any_key' ? [] : (['insufficient_scope'] as const)),
    ...(route.body ? BODY_CODES : []),
    'invalid_request',
    ...(isReplayable(route) ? REPLAY_CODES : []),
    ...route.errors,
    'unavailable',
  ];
}

function errorsByStatus(codes: ErrorCode[]): Record<string, unknown> {
  const statuses = [...new Set(codes.map((code) => ERROR_STATUS[code]))];
  const answers = statuses.map((status) => {
    const same = new Set(codes.filter((code) => ERROR_STATUS[code] === status));
    const description = [...same].map((code) => `\`${code}\``).join(', ');
    return [status, { description, content: json({ $ref: '#/components/schemas/Error' }) }];
  });
  return Object.fromEntries(answers);
}

function json(schema: unknown): Record<string, unknown> {
  return { 'application/json': { schema } };
}
