import type { RequestListener, ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { ANSWER_GUARDS } from '../schemas/answer-guards.ts';
import { ERROR_STATUS, type Refusal } from '../schemas/error-codes.ts';
import { API_VERSION, JSON_TYPE } from './http/answer-head.ts';
import { type Check, judgeChecks } from './judge-checks.ts';
import { OPEN_ACCESS, type OperatorAccess } from './operator-access.ts';

export interface RolePages {
  metrics: Registry;
  /** Default: everybody sees all of it. */
  access?: OperatorAccess;
  /** What has to be well for this process to be ready. */
  checks: Record<string, Check>;
}

/** The pages of an operator on a process that has no API: alive, ready, metrics. Anything else is 404. */
export function rolePages({ metrics, checks, access = OPEN_ACCESS }: RolePages): RequestListener {
  const pages: Record<string, (response: ServerResponse, refusal?: Refusal) => Promise<void>> = {
    '/healthz': async (response) => sendJson(response, 200, { status: 'alive' }),
    '/readyz': async (response, refusal) => {
      const readiness = await judgeChecks(checks);
      const { status } = readiness;
      sendJson(response, status === 'ready' ? 200 : 503, refusal ? { status } : readiness);
    },
    '/metrics': async (response, refusal) => {
      if (refusal) return sendJson(response, ERROR_STATUS[refusal.code], { error: refusal });
      const text = await metrics.metrics();
      response.writeHead(200, { ...ALWAYS, 'content-type': metrics.contentType }).end(text);
    },
  };
  return (request, response) => {
    const page = request.method === 'GET' ? pages[(request.url ?? '').split('?')[0] ?? ''] : undefined;
    if (!page) return sendJson(response, 404, NOT_FOUND);
    const { authorization } = request.headers;
    const refusal = access.refusalOf({ authorization, localPort: request.socket.localPort });
    page(response, refusal).catch(() => sendJson(response, 503, { status: 'unavailable' }));
  };
}

const ALWAYS = { 'x-api-version': API_VERSION, ...ANSWER_GUARDS };
const NOT_FOUND = {
  error: { code: 'not_found', message: 'This process has /healthz, /readyz and /metrics.' },
};

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { ...ALWAYS, ...JSON_TYPE }).end(JSON.stringify(body));
}
