import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Check, runHealthChecks } from '../../infra/platform/health-checks.ts';
import { OPEN_ACCESS, type OperatorAccess } from '../../infra/platform/operator-access.ts';
import {
  NO_SUCH_PAGE,
  OPERATOR_METHODS,
  operatorPageRejection,
} from '../../infra/platform/operator-paths.ts';
import { createRejectionLog } from '../../infra/platform/rejection-log.ts';
import { shareOutcome } from '../../infra/platform/shared-outcome.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { type PageExchange, pageListener, rejectPage, sendPage } from './page-responses.ts';

export interface RolePages {
  metrics: Registry;
  /** Default: every client sees all of it. */
  access?: OperatorAccess;
  /** What has to be well for this process to be ready. */
  checks: Record<string, Check>;
  log: Logger;
}

type Page = (exchange: PageExchange, rejection?: Rejection) => Promise<void>;

/** The pages of an operator on a process that has no API: alive, ready, metrics. Anything else is 404. */
export function rolePages({ metrics, checks, log, access = OPEN_ACCESS }: RolePages): RequestListener {
  const rejections = createRejectionLog(log);
  const readiness = shareOutcome(() => runHealthChecks(checks));
  const metricsText = shareOutcome(() => metrics.metrics());
  const pages = new Map<string, Page>([
    ['/healthz', async (exchange) => sendPage(exchange, 200, { status: 'alive' })],
    [
      '/readyz',
      async (exchange, rejection) => {
        const all = await readiness();
        const { status } = all;
        sendPage(exchange, status === 'ready' ? 200 : 503, rejection ? { status } : all);
      },
    ],
    [
      '/metrics',
      async (exchange, rejection) => {
        if (rejection) return rejectPage(exchange, rejection, { rejections });
        const text = await metricsText();
        exchange.response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
      },
    ],
  ]);
  return pageListener((exchange) => {
    const { request, path, search } = exchange;
    const page = pages.get(path);
    if (!page) return rejectPage(exchange, NO_SUCH_PAGE, { rejections });
    const rejected = operatorPageRejection(request.method, search);
    if (rejected) return rejectPage(exchange, rejected, { rejections, headers: { allow: OPERATOR_METHODS } });
    const { authorization } = request.headers;
    const rejection = access.rejectionOf({ authorization, localPort: request.socket.localPort });
    page(exchange, rejection).catch(() => sendPage(exchange, 503, { status: 'unavailable' }));
  });
}
