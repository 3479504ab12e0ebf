import type { RequestContext } from '../http/request-context.ts';

/** Of a request with every scope, without a store. */
export const CONTEXT = {
  environment: 'ws_a:live',
  actor: 'key_a',
  scopes: ['*'],
  kind: 'secret',
  headers: {},
  requestId: 'req_a',
  onClientClosed: () => undefined,
} as unknown as RequestContext;
