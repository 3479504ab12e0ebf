import type { TenantRequest } from './tenant-requests.ts';
import type { RequestedRequest } from './watched-client.ts';

/** Requests that are wrong in one way each. `canary` is where a secret might be sent by mistake. */
export function spoiltRequests(request: TenantRequest, canary: string): RequestedRequest[] {
  return [...spoiltPaths(request), ...spoiltHeads(request, canary), ...spoiltBodies(request, canary)];
}

const STRANGE_NAMES = ['%00', '%ED%A0%80', "'%20OR%201=1%20--", '__proto__', '..%2f..', 'x'.repeat(200)];

function spoiltPaths({ operationId, route, body }: TenantRequest): RequestedRequest[] {
  const templates = route.path.includes('{') ? STRANGE_NAMES : [];
  return templates.map((name) => ({ operationId, route, body, path: route.path.replace(/\{\w+\}/g, name) }));
}

function spoiltHeads(request: TenantRequest, canary: string): RequestedRequest[] {
  const heads: Array<Record<string, string>> = [
    { authorization: `Basic ${canary}` },
    { authorization: `Bearer ${canary}` },
    { 'x-api-key': canary },
    { 'content-type': 'text/xml' },
    { 'idempotency-key': '' },
    { 'if-match': canary },
    { 'x-request-id': 'a b' },
    { cookie: canary },
  ];
  return heads.map((headers) => ({ ...request, headers }));
}

function spoiltBodies(request: TenantRequest, canary: string): RequestedRequest[] {
  const { body } = request;
  if (body === undefined) return [];
  const whole = [
    '',
    '{',
    '[]',
    'null',
    `{"apiKey":"${canary}"`,
    '{"__proto__":{"name":1}}',
    Buffer.from([0xff]),
  ];
  const fields = Object.keys(body as object);
  const values = [null, { secret: canary }, [canary], -1e300, '\u0000', '\ud800', 'x'.repeat(5_000)];
  const fieldByField = fields.flatMap((field) =>
    values.map((value) => ({ ...(body as object), [field]: value })),
  );
  return [...whole, ...fieldByField, { ...(body as object), further: canary }].map((spoilt) => ({
    ...request,
    body: spoilt,
  }));
}
