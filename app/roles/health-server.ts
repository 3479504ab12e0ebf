import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Check, judgeChecks } from '../../infra/platform/health-checks.ts';
import { OPEN_ACCESS, type OperatorAccess } from '../../infra/platform/operator-access.ts';
import { NO_SUCH_PAGE, OPERATOR_METHODS, operatorPageRefusal } from '../../infra/platform/operator-paths.ts';
import { createRefusalLog } from '../../infra/platform/rejection-log.ts';
import { shareOutcome } from '../../infra/platform/shared-outcome.ts';
import type { Refusal } from '../../schemas/error-codes.ts';
import { type PageExchange, pageListener, refusePage, sendPage } from './page-responses.ts';

export interface RolePages {
  metrics: Registry;
  /** Default: everybody sees all of it. */
  access?: OperatorAccess;
  /** What has to be well for this process to be ready. */
  checks: Record<string, Check>;
  log: Logger;
}

type Page = (exchange: PageExchange, refusal?: Refusal) => Promise<void>;

/** The pages of an operator on a process that has no API: alive, ready, metrics. Anything else is 404. */
export function rolePages({ metrics, checks, log, access = OPEN_ACCESS }: RolePages): RequestListener {
  const refusals = createRefusalLog(log);
  const readiness = shareOutcome(() => judgeChecks(checks));
  const metricsText = shareOutcome(() => metrics.metrics());
  const pages = new Map<string, Page>([
    ['/healthz', async (exchange) => sendPage(exchange, 200, { status: 'alive' })],
    [
      '/readyz',
      async (exchange, refusal) => {
        const all = await readiness();
        const { status } = all;
        sendPage(exchange, status === 'ready' ? 200 : 503, refusal ? { status } : all);
      },
    ],
    [
      '/metrics',
      async (exchange, refusal) => {
        if (refusal) return refusePage(exchange, refusal, { refusals });
        const text = await metricsText();
        exchange.response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
      },
    ],
  ]);
  return pageListener((exchange) => {
    const { request, path, search } = exchange;
    const page = pages.get(path);
    if (!page) return refusePage(exchange, NO_SUCH_PAGE, { refusals });
    const refused = operatorPageRefusal(request.method, search);
    if (refused) return refusePage(exchange, refused, { refusals, headers: { allow: OPERATOR_METHODS } });
    const { authorization } = request.headers;
    const refusal = access.refusalOf({ authorization, localPort: request.socket.localPort });
    page(exchange, refusal).catch(() => sendPage(exchange, 503, { status: 'unavailable' }));
  });
}
