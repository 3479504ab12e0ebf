import type { Route } from '../../schemas/route.ts';
import { ROUTES } from '../../schemas/routes.ts';
import { ERROR_SCHEMAS, REJECTION_HEADERS, type Rejections } from './errors.ts';
import { DELIVERY_HEADERS, eventWebhooks } from './event-webhooks.ts';
import { schemasReferredTo } from './named-schemas.ts';
import { operationOf } from './operation.ts';
import { OPTIONAL_HEADERS } from './request-parameters.ts';
import { RESPONSE_HEADERS } from './response-headers.ts';

/** Version of the API, not of this software. */
const CONTRACT_VERSION = '2026-03-15';

const ABOUT = `Usage metering, entitlements and subscription billing.

Every response carries \`X-API-Version\` and \`X-Request-Id\`. Errors have the body \`ErrorResponse\`:
decide by its \`code\`, which is from a closed list, and not by its \`message\`. With \`Accept:
application/problem+json\` they are problems of RFC 9457 with the same \`code\`. Requests may use RFC 3339
timestamps with any offset; responses use UTC with milliseconds. Numbers are exact decimals of at most 15
integer and 12 fraction digits. Unknown fields of a body are ignored and listed in \`X-Ignored-Fields\`; with
\`Prefer: handling=strict\` they are rejected. Any path can return 404 \`not_found\` or
\`unsupported_api_version\`, any method 405 \`method_not_allowed\`, and any request with too large headers
431 \`headers_too_large\`.`;

/** The OpenAPI 3.1.0 description of every operation of the route table, and of nothing else. */
export function openApi(): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  const rejections: Rejections = new Map();
  for (const [operationId, route] of Object.entries<Route>(ROUTES)) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = operationOf(operationId, route, rejections);
    paths[route.path] = path;
  }
  const webhooks = eventWebhooks();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Metergate',
      version: CONTRACT_VERSION,
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths,
    webhooks,
    components: {
      schemas: { ...ERROR_SCHEMAS, ...schemasReferredTo(JSON.stringify([paths, webhooks])) },
      headers: { ...RESPONSE_HEADERS, ...REJECTION_HEADERS },
      parameters: { ...OPTIONAL_HEADERS, ...DELIVERY_HEADERS },
      responses: Object.fromEntries(rejections),
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key, in another header.' },
  keyInAddress: {
    type: 'apiKey',
    in: 'query',
    name: 'key',
    description: 'A publishable key, for pages that cannot set headers (`navigator.sendBeacon`).',
  },
  customerToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A customer token, for pages that a customer has signed in to: `POST /api/v1/customer-tokens`. It ' +
      'reads one customer, named by its own id or `me`.',
  },
};
