import type { RequestListener, ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { ANSWER_GUARDS } from '../schemas/answer-guards.ts';
import { API_VERSION, JSON_TYPE } from './http/answer-head.ts';
import { type Check, judgeChecks } from './judge-checks.ts';

export interface RolePages {
  metrics: Registry;
  /** What has to be well for this process to be ready. */
  checks: Record<string, Check>;
}

/** The pages of an operator on a process that has no API: alive, ready, metrics. Anything else is 404. */
export function rolePages({ metrics, checks }: RolePages): RequestListener {
  const pages: Record<string, (response: ServerResponse) => Promise<void>> = {
    '/healthz': async (response) => sendJson(response, 200, { status: 'alive' }),
    '/readyz': async (response) => {
      const readiness = await judgeChecks(checks);
      sendJson(response, readiness.status === 'ready' ? 200 : 503, readiness);
    },
    '/metrics': async (response) => {
      const text = await metrics.metrics();
      response.writeHead(200, { ...ALWAYS, 'content-type': metrics.contentType }).end(text);
    },
  };
  return (request, response) => {
    const page = request.method === 'GET' ? pages[(request.url ?? '').split('?')[0] ?? ''] : undefined;
    if (!page) return sendJson(response, 404, NOT_FOUND);
    page(response).catch(() => sendJson(response, 503, { status: 'unavailable' }));
  };
}

const ALWAYS = { 'x-api-version': API_VERSION, ...ANSWER_GUARDS };
const NOT_FOUND = {
  error: { code: 'not_found', message: 'This process has /healthz, /readyz and /metrics.' },
};

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { ...ALWAYS, ...JSON_TYPE }).end(JSON.stringify(body));
}
