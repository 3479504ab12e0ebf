import type { RequestListener } from 'node:http';
import { ANSWER_GUARDS } from '../schemas/answer-guards.ts';
import { ERROR_STATUS, errorBody } from '../schemas/error-codes.ts';
import type { Closer } from './closer.ts';
import { createControlServer } from './control-server.ts';
import { API_VERSION, JSON_TYPE } from './http/answer-head.ts';
import type { OperatorPages } from './operator-config.ts';

/** The pages that may be on a port of their own. */
const PAGES = new Set(['/healthz', '/readyz', '/metrics']);

/** Opens METRICS_PORT, where it is set, for the operator's pages of this listener and nothing else. */
export async function openOperatorPort(
  { metricsPort, metricsHost }: OperatorPages,
  closer: Closer,
  listener: RequestListener,
): Promise<void> {
  if (metricsPort === undefined) return;
  const address = { host: metricsHost, port: metricsPort, variables: 'METRICS_HOST and METRICS_PORT' };
  const server = await createControlServer({ ...address, meanwhile: pagesOf(listener) });
  closer.add('operator port', { drain: server.drain, close: server.close });
}

function pagesOf(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (PAGES.has((request.url ?? '').split('?', 1)[0] ?? '')) return listener(request, response);
    const refusal = { code: 'not_found', message: 'This port has /healthz, /readyz and /metrics.' } as const;
    const requestId = String(request.headers['x-request-id'] ?? '');
    response.writeHead(ERROR_STATUS[refusal.code], {
      'x-api-version': API_VERSION,
      ...ANSWER_GUARDS,
      ...JSON_TYPE,
    });
    response.end(errorBody(refusal, requestId));
  };
}
