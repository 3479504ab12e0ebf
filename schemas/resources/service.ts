/** Pages for operators, outside /api and without a key. */
import { type Static, Type } from 'typebox';
import { defineRoute } from '../route.ts';
import { Nothing } from './fields.ts';

const page = { method: 'GET', plane: 'control', access: 'public', params: Nothing, query: Nothing } as const;

export const Health = Type.Object({ status: Type.Literal('alive') });

export const OpenApiDescription = Type.Object({ openapi: Type.String() });

const Check = Type.Object({ ok: Type.Boolean(), detail: Type.String() });

export const Readiness = Type.Object({
  status: Type.Enum(['ready', 'not_ready']),
  checks: Type.Optional(
    Type.Record(Type.String(), Check, {
      description: 'Left out for callers who may not see it (METRICS_PORT, METRICS_TOKEN).',
    }),
  ),
  dataPlane: Type.Optional(
    Type.Union([Type.Literal('ok'), Type.Record(Type.String(), Type.String())], {
      description: 'On the public port: `ok`, or by name what keeps it from taking events.',
    }),
  ),
});
export type Readiness = Static<typeof Readiness>;

export const serviceRoutes = {
  'service.health': defineRoute({
    ...page,
    path: '/healthz',
    summary: 'Whether the process is alive',
    status: 200,
    response: Health,
    errors: [],
  }),
  'service.readiness': defineRoute({
    ...page,
    path: '/readyz',
    summary: 'Whether everything works; 503 names what does not',
    status: 200,
    response: Readiness,
    errors: [],
  }),
  'service.metrics': defineRoute({
    ...page,
    path: '/metrics',
    summary: 'Metrics in the text format of Prometheus',
    description:
      'With METRICS_TOKEN it asks for that as a bearer token, with METRICS_PORT it is on that port alone.',
    status: 200,
    response: Type.String(),
    mediaTypes: ['text/plain'],
    errors: [],
  }),
  'service.openapi': defineRoute({
    ...page,
    path: '/openapi.json',
    summary: 'This description',
    status: 200,
    response: OpenApiDescription,
    errors: [],
  }),
  'service.docs': defineRoute({
    ...page,
    path: '/docs',
    summary: 'This description as a page to read and to try',
    status: 200,
    response: Type.String(),
    mediaTypes: ['text/html'],
    errors: [],
  }),
  'service.docsAsset': defineRoute({
    ...page,
    path: '/docs/{asset}',
    summary: 'A file that the page /docs names',
    params: Type.Object({ asset: Type.String({ minLength: 1, maxLength: 128 }) }),
    status: 200,
    response: Type.String(),
    mediaTypes: ['text/css', 'text/javascript', 'image/png'],
    errors: ['not_found'],
  }),
};
