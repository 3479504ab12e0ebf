import { type Access, API_BASE, type Route } from '../../schemas/route.ts';
import { SCOPES } from '../../schemas/scopes.ts';
import { codesOf, type Rejections, rejectedWith } from './errors.ts';
import { withReferences } from './named-schemas.ts';
import { parametersOf } from './request-parameters.ts';
import { responseHeaders } from './response-headers.ts';

/** One operation of the description. Its error responses are added to `rejections`. */
export function operationOf(
  operationId: string,
  route: Route,
  rejections: Rejections,
): Record<string, unknown> {
  const { summary, description, deprecated, body, bodyOptional } = route;
  return {
    operationId,
    tags: [tagOf(route)],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(deprecated ? { deprecated: true } : {}),
    security: securityOf(route),
    ...(isScope(route.access) ? { 'x-required-scope': route.access } : {}),
    parameters: parametersOf(route),
    ...(body ? { requestBody: { required: !bodyOptional, content: requestContent(route) } } : {}),
    responses: { ...successOf(operationId, route), ...rejectedWith(codesOf(route), rejections) },
  };
}

/** The first word of the path below the base. */
function tagOf({ path }: Route): string {
  if (!path.startsWith(`${API_BASE}/`)) return 'service';
  return path.slice(API_BASE.length + 1).split('/')[0] ?? '';
}

function requestContent({ body, example, bodyTexts = {} }: Route): Record<string, unknown> {
  const texts = Object.entries(bodyTexts).map(([mediaType, text]) => [
    mediaType,
    { schema: withReferences(text.schema), example: text.example },
  ]);
  return { ...json(body, example), ...Object.fromEntries(texts) };
}

function securityOf({ access, fromBrowser, customerToken }: Route): unknown[] {
  if (access === 'public' || access === 'signature') return [];
  return [
    { bearer: [] },
    { apiKey: [] },
    ...(fromBrowser ? [{ keyInAddress: [] }] : []),
    ...(customerToken ? [{ customerToken: [] }] : []),
  ];
}

function isScope(access: Access): boolean {
  return (SCOPES as readonly string[]).includes(access);
}

function successOf(operationId: string, route: Route): Record<string, unknown> {
  if (route.deprecated) return {};
  const headers = responseHeaders(route);
  const content = route.status === 204 ? {} : { content: contentOf(route) };
  const success = { description: route.summary, headers, ...content };
  return {
    [route.status]: success,
    ...(route.otherwise ? otherwiseOf(route.otherwise, headers) : {}),
    ...(route.status === 204 && route.furtherMediaTypes ? requestedResults(route, headers) : {}),
    ...(route.etag && route.method === 'GET'
      ? { 304: { description: 'The object still has the ETag of `If-None-Match`.', headers } }
      : {}),
    ...(operationId === 'service.readiness'
      ? { 503: { ...success, description: 'A check has failed; the body names it.' } }
      : {}),
  };
}

function otherwiseOf({ status, description, response }: NonNullable<Route['otherwise']>, headers: unknown) {
  return { [status]: { description, headers, content: json(response) } };
}

/** In place of 204, where the client asks for what it leaves out. */
function requestedResults({ furtherMediaTypes = {} }: Route, headers: unknown): Record<string, unknown> {
  const content = Object.entries(furtherMediaTypes).map(([type, schema]) => [
    type,
    { schema: withReferences(schema) },
  ]);
  const description = `With \`Accept: ${Object.keys(furtherMediaTypes).join(', ')}\`.`;
  return { 200: { description, headers, content: Object.fromEntries(content) } };
}

function contentOf({ response, mediaTypes, furtherMediaTypes = {} }: Route): Record<string, unknown> {
  const further = Object.entries(furtherMediaTypes).map(([type, schema]) => [type, { schema }]);
  if (!mediaTypes) return { ...json(response), ...Object.fromEntries(further) };
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema: response }]));
}

function json(schema: unknown, example?: unknown): Record<string, unknown> {
  return {
    'application/json': { schema: withReferences(schema), ...(example === undefined ? {} : { example }) },
  };
}
