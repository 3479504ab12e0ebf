/** Pages for operators, outside /api and without a key. */
import { type Static, Type } from 'typebox';
import { defineRoute } from '../route.ts';
import { AnyName, Nothing } from './fields.ts';

const page = { method: 'GET', plane: 'control', access: 'public', params: Nothing, query: Nothing } as const;

export const Health = Type.Object({ status: Type.Literal('alive') });

export const OpenApiDescription = Type.Object({ openapi: Type.String() });

const Check = Type.Object({ ok: Type.Boolean(), detail: Type.String() });

export const Readiness = Type.Object({
  status: Type.Enum(['ready', 'not_ready']),
  version: Type.Optional(
    Type.String({
      description: 'The release of Metergate that responds. Left out as `checks` are.',
    }),
  ),
  checks: Type.Optional(
    Type.Record(AnyName, Check, {
      description:
        'The result of each check. Left out when `METRICS_PORT` or `METRICS_TOKEN` is set and the caller ' +
        'may not see it.',
    }),
  ),
  dataPlane: Type.Optional(
    Type.Union([Type.Literal('ok'), Type.Record(AnyName, Type.String())], {
      description:
        'On the public port: `ok`, or the blockers that keep the data plane from accepting usage, by name.',
    }),
  ),
});
export type Readiness = Static<typeof Readiness>;

export const serviceRoutes = {
  'service.health': defineRoute({
    ...page,
    path: '/healthz',
    summary: 'Check whether the process is alive',
    status: 200,
    response: Health,
    errors: [],
  }),
  'service.readiness': defineRoute({
    ...page,
    path: '/readyz',
    summary: 'Check whether the service is ready',
    status: 200,
    response: Readiness,
    errors: [],
  }),
  'service.metrics': defineRoute({
    ...page,
    path: '/metrics',
    summary: 'Retrieve metrics in the Prometheus text format',
    description:
      'With `METRICS_TOKEN` set, the request must carry it as a bearer token. With `METRICS_PORT` set, ' +
      'metrics are available on that port only.',
    status: 200,
    response: Type.String(),
    mediaTypes: ['text/plain'],
    errors: [],
  }),
  'service.openapi': defineRoute({
    ...page,
    path: '/openapi.json',
    summary: 'Retrieve the OpenAPI description',
    status: 200,
    response: OpenApiDescription,
    errors: [],
  }),
  'service.docs': defineRoute({
    ...page,
    path: '/docs',
    summary: 'Show the API reference as a page',
    status: 200,
    response: Type.String(),
    mediaTypes: ['text/html'],
    errors: [],
  }),
  'service.docsAsset': defineRoute({
    ...page,
    path: '/docs/{asset}',
    summary: 'Retrieve a file of the API reference',
    params: Type.Object({ asset: Type.String({ minLength: 1, maxLength: 128 }) }),
    status: 200,
    response: Type.String(),
    mediaTypes: ['text/css', 'text/javascript', 'image/png'],
    errors: ['not_found'],
  }),
  'service.console': defineRoute({
    ...page,
    path: '/console',
    summary: 'Show the console as a page',
    status: 200,
    response: Type.String(),
    mediaTypes: ['text/html'],
    errors: ['not_found'],
  }),
  'service.consoleAsset': defineRoute({
    ...page,
    path: '/console/{asset}',
    summary: 'Retrieve a file of the console',
    params: Type.Object({ asset: Type.String({ minLength: 1, maxLength: 128 }) }),
    status: 200,
    response: Type.String(),
    mediaTypes: ['text/css', 'text/javascript', 'image/svg+xml'],
    errors: ['not_found'],
  }),
};
