import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { ERROR_STATUS } from '../../schemas/error-codes.ts';
import { EVENT_TYPES, exampleEnvelope } from '../../schemas/events.ts';
import type { Route } from '../../schemas/route.ts';
import { ROUTES } from '../../schemas/routes.ts';
import { faultOf } from '../../tests/support/emitted-events.ts';
import { checkOf } from '../http/json-schema.ts';
import { NAMED_SCHEMAS } from './named-schemas.ts';
import { openApi } from './openapi.ts';

/*
 * Mutants this suite catches: an operation id, scope or status changed; a named schema left out of the
 * components; a body without a name; an error response without its headers; an example that violates its
 * schema; a route added without `npm run openapi`.
 */
type Json = Record<string, unknown>;
interface Operation {
  operationId: string;
  summary: string;
  security: Json[];
  'x-required-scope'?: string;
  parameters: Array<{ $ref?: string; name?: string; in?: string; required?: boolean }>;
  responses: Record<string, Json>;
}

const document = JSON.parse(JSON.stringify(openApi())) as Json & {
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

/** Method, path, operation id, scope and success, written a second time: a row that changes is seen. */
const SPECIFIED = `
  GET /plans plans.list plans:read 200
  POST /plans createPlan plans:write 201
  GET /customers customers.list customers:view 200
  POST /customers customers.create customers:create 201
  POST /subscriptions subscriptions.create subscriptions:write 201
  GET /entitlements/{customerId} entitlements.list entitlements:read 200
  GET /entitlements/{customerId}/{featureKey} entitlements.check entitlements:read 200
  POST /usage/events usage.submit usage:write 201
  POST /usage/events/batch usage.submitBatch usage:write 200
  GET /usage/{customerId}/{meterId} usage.retrieve usage:read 200
  GET /usage/{customerId}/{meterId}/breakdown usage.breakdown usage:read 200
  GET /webhooks/endpoints listWebhookEndpoints webhooks:read 200
  POST /webhooks/endpoints createWebhookEndpoint webhooks:write 201
  POST /integrations/processor connectProcessor integrations:manage 200
  POST /events/funnel - - 201`;

describe('the description', () => {
  it.each(
    SPECIFIED.trim()
      .split('\n')
      .map((line) => line.trim().split(' ')),
  )('has %s %s as it is specified', (...row) => {
    const [method = '', path = '', id, scope, status = ''] = row;
    const operation = document.paths[`/api/v1${path}`]?.[method.toLowerCase()];
    expect(operation).toBeDefined();
    if (id !== '-') expect(operation?.operationId).toBe(id);
    expect(operation?.['x-required-scope'] ?? '-').toBe(scope);
    expect(Object.keys(operation?.responses ?? {}).filter((code) => code.startsWith('2'))).toEqual([status]);
  });

  it('is of OpenAPI 3.1.0 and of the contract of 2026-03-15', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '2026-03-15' } });
  });

  it('is valid, for a validator that is not ours', async () => {
    expect(await new Validator().validate(document)).toEqual({ valid: true });
  });

  it('is the committed schemas/openapi.json: after a change `npm run openapi` renews that', () => {
    const committed = JSON.parse(readFileSync('schemas/openapi.json', 'utf8'));
    expect(committed, 'schemas/openapi.json is out of date: npm run openapi').toEqual(document);
  });

  it('names the schema of every request body, and of every response but pages and images', () => {
    const inline: string[] = [];
    walk([document.paths, document.webhooks, document.components], ({ content = {} }) => {
      for (const [mediaType, { schema }] of Object.entries(content as Record<string, { schema: Json }>)) {
        const isPage = /^(text|image)\//.test(mediaType) && schema.contentMediaType === undefined;
        if (!isPage && schema.$ref === undefined) inline.push(`${mediaType} ${JSON.stringify(schema)}`);
      }
    });
    expect(inline).toEqual([]);
  });

  it('gives each schema one name, and each name one schema', () => {
    const names = NAMED_SCHEMAS.map(([name]) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(NAMED_SCHEMAS.map(([, json]) => json)).size).toBe(names.length);
  });

  it('has a webhook for each type of event, with an example of it', () => {
    expect(Object.keys(document.webhooks as Json)).toEqual([...EVENT_TYPES]);
  });

  it.each(EVENT_TYPES)('has an example of %s that its schema accepts', (type) => {
    expect(faultOf(type, exampleEnvelope(type) as { data: object })).toBeUndefined();
  });

  it('refers to nothing that is not there, and has nothing that is not referred to', () => {
    const referred = new Set<string>();
    walk(document, (node) => {
      if (typeof node.$ref === 'string') referred.add(node.$ref);
    });
    const kinds = Object.entries(document.components as Record<string, Json>);
    const there = kinds.flatMap(([kind, named]) => {
      return Object.keys(named).map((name) => `#/components/${kind}/${name}`);
    });
    const byName = there.filter((one) => !one.startsWith('#/components/securitySchemes/'));
    expect([...referred].sort()).toEqual(byName.sort());
  });
});

it('needs nothing of a request that has a default', () => {
  const needed: unknown[] = [];
  walk(document, ({ required, properties, schema = {}, name }) => {
    if (required === true && 'default' in (schema as Json)) needed.push(name);
    const fields = Object.entries((properties ?? {}) as Record<string, Json>);
    if (!Array.isArray(required)) return;
    for (const [field, inner] of fields)
      if (required.includes(field) && 'default' in inner) needed.push(field);
  });
  expect(needed).toEqual([]);
});

it('names each way to present a key of the operations that take it', () => {
  const inAddress = operations.filter(({ operation }) =>
    operation.security.some((way) => 'keyInAddress' in way),
  );
  expect(inAddress.map(({ operation }) => operation.operationId)).toEqual([
    'pricing.retrieve',
    'funnel.record',
  ]);
  const { securitySchemes } = document.components as { securitySchemes: Json };
  expect(securitySchemes.keyInAddress).toMatchObject({ type: 'apiKey', in: 'query', name: 'key' });
  const ways = operations.flatMap(({ operation }) => operation.security.flatMap((way) => Object.keys(way)));
  expect([...new Set(ways)].sort()).toEqual(Object.keys(securitySchemes).sort());
});

describe.each(operations)('$method $path', ({ path, method, operation }) => {
  const { operationId, responses, parameters, security } = operation;
  const route = (ROUTES as Record<string, Route>)[operationId] as Route;
  const parameterNames = parameters.map(({ $ref, name }) => name ?? $ref?.split('/').at(-1));

  it('has the two headers of every response, error bodies and what its method needs', () => {
    for (const [status, response] of Object.entries(responses)) {
      const { headers = {}, content } = resolved(response) as { headers?: Json; content?: Json };
      expect(Object.keys(headers)).toEqual(expect.arrayContaining(['X-API-Version', 'X-Request-Id']));
      const isOwnPage = !path.startsWith('/api/') && status === '503';
      if (Number(status) >= 400 && !isOwnPage) expect(JSON.stringify(content)).toContain('schemas/Error');
      if (['429', '503'].includes(status) && !isOwnPage) expect(headers).toHaveProperty('Retry-After');
      if (Number(status) < 300 && route.etag) expect(headers).toHaveProperty('ETag');
    }
    const isOfControlPlane = method === 'POST' && route.plane === 'control';
    const takesKey = route.access !== 'signature' && !route.ignoresIdempotencyKey;
    if (isOfControlPlane) expect(parameterNames.includes('Idempotency-Key')).toBe(takesKey);
    if (route.etag && method === 'GET') {
      expect(parameterNames).toContain('If-None-Match');
      expect(responses).toHaveProperty('304');
    }
    const isRead = method !== 'GET' && route.plane === 'control';
    if (isRead) expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '413', '415']));
    expect(parameterNames.includes('If-Match')).toBe(route.errors.includes('precondition_failed'));
  });

  it('names every parameter of its path, and has a 401 if it needs a key', () => {
    const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => `{${name}}`);
    expect(inPath).toEqual(path.match(/\{\w+\}/g) ?? []);
    expect('401' in responses).toBe(security.length > 0);
  });

  it('takes its own example', () => {
    if (!route.body) return;
    expect(route.example, 'a body without an example').toBeDefined();
    checkOf(route.body)(structuredClone(route.example));
  });
});

it('names every error code of the closed list at the operations that can return it', () => {
  const named = new Set<string>();
  for (const { operation } of operations) {
    for (const response of Object.values(operation.responses)) {
      walk(resolved(response), (node) => {
        if (Array.isArray(node.enum)) for (const code of node.enum) named.add(String(code));
      });
    }
  }
  // Of any path, before an operation is found.
  const elsewhere = [
    'not_found',
    'unsupported_api_version',
    'method_not_allowed',
    'headers_too_large',
    // Of operations that this release does not have.
    'endpoint_not_found',
    'secret_key_required',
  ];
  const missing = Object.keys(ERROR_STATUS).filter((code) => !named.has(code) && !elsewhere.includes(code));
  expect(missing).toEqual([]);
});

function resolved(node: Json): Json {
  if (typeof node.$ref !== 'string') return node;
  const found = node.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((inner, name) => (inner as Json)[name], document);
  return found as Json;
}

function walk(node: unknown, see: (node: Json) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) see(node as Json);
  for (const inner of Object.values(node)) walk(inner, see);
}
