import { ERROR_STATUS, type ErrorCode } from '../../schemas/error-codes.ts';
import { type Route, readsBody } from '../../schemas/route.ts';
import { takesIdempotencyKey } from './request-parameters.ts';
import { referencesTo } from './response-headers.ts';

/** The error responses of all operations by name: most operations have most of them in common. */
export type Rejections = Map<string, unknown>;

export const REJECTION_HEADERS = {
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
};

/** The body of every error, and the closed list of its codes. */
export const ERROR_SCHEMAS = {
  ErrorCode: { type: 'string', enum: Object.keys(ERROR_STATUS) },
  ErrorResponse: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'requestId'],
        properties: {
          code: { $ref: '#/components/schemas/ErrorCode' },
          message: {
            type: 'string',
            description: 'A sentence for people that says what is wrong and what to do. It may change.',
          },
          param: { type: 'string', description: 'The field or parameter at fault.' },
          details: { type: 'object' },
          requestId: {
            type: 'string',
            description: 'The `X-Request-Id` of the request. Include it when you contact support.',
          },
        },
      },
    },
  },
};

/** Statuses that are possible after the body was read. */
const AFTER_BODY = new Set([400, 404, 409, 422]);

const KEY_CODES: ErrorCode[] = ['unauthenticated', 'key_revoked', 'key_expired'];
const BODY_CODES: ErrorCode[] = ['unsupported_media_type', 'payload_too_large', 'invalid_json'];
const REPLAY_CODES: ErrorCode[] = [
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'idempotency_key_in_use',
];

/** Every error code of this operation. */
export function codesOf(route: Route): ErrorCode[] {
  const { access, plane } = route;
  if (access === 'public') return [...route.errors];
  const isKeyed = access !== 'signature';
  const isOpenToBrowsers = access === 'publishable' || !isKeyed;
  return [
    ...(isKeyed ? KEY_CODES : []),
    ...(isOpenToBrowsers ? [] : (['publishable_key_not_allowed'] as const)),
    ...(isKeyed && !isForAnyToken(route) ? (['customer_token_not_allowed'] as const) : []),
    ...(isOpenToBrowsers || access === 'any_key' ? [] : (['insufficient_scope'] as const)),
    ...(readsBody(route) ? BODY_CODES : []),
    // The control plane takes no compressed bodies.
    ...(readsBody(route) && plane === 'data' ? (['invalid_gzip'] as const) : []),
    'invalid_request',
    ...(takesIdempotencyKey(route) ? REPLAY_CODES : []),
    ...(isKeyed && plane === 'control' ? (['rate_limited'] as const) : []),
    ...route.errors,
    'internal',
    'overloaded',
    'unavailable',
  ];
}

/** What is not of one customer, every customer token reads. */
function isForAnyToken({ customerToken, params }: Route): boolean {
  return customerToken === true && !Object.hasOwn(params.properties, 'customerId');
}

/** References by status to error responses with these codes, which are added to `rejections`. */
export function rejectedWith(codes: ErrorCode[], rejections: Rejections): Record<string, unknown> {
  const statuses = [...new Set(codes.map((code) => ERROR_STATUS[code]))];
  const responses = statuses.map((status) => {
    const same = [...new Set(codes.filter((code) => ERROR_STATUS[code] === status))].sort();
    const name = same.join('.');
    rejections.set(name, rejectionOf(status, same));
    return [status, { $ref: `#/components/responses/${name}` }];
  });
  return Object.fromEntries(responses);
}

function rejectionOf(status: number, codes: ErrorCode[]): unknown {
  const code = { enum: codes };
  const names = ['X-API-Version', 'X-Request-Id'];
  if (status === 503 || status === 429) names.push('Retry-After');
  if (AFTER_BODY.has(status)) names.push('X-Ignored-Fields');
  return {
    description: codes.map((one) => `\`${one}\``).join(', '),
    headers: referencesTo(names),
    content: {
      'application/json': {
        schema: {
          $ref: '#/components/schemas/ErrorResponse',
          properties: { error: { properties: { code } } },
        },
      },
    },
  };
}
