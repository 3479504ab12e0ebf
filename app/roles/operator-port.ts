import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { Closer } from '../../infra/platform/closer.ts';
import type { OperatorPages } from '../../infra/platform/operator-access.ts';
import { NO_SUCH_PAGE, OPERATOR_PATHS } from '../../infra/platform/operator-paths.ts';
import { createRejectionLog } from '../../infra/platform/rejection-log.ts';
import { createControlServer } from './control-server.ts';
import { pageListener, rejectPage } from './page-responses.ts';

/** Opens METRICS_PORT, where it is set, for the operator's pages of this listener and nothing else. */
export async function openOperatorPort(
  { metricsPort, metricsHost }: OperatorPages,
  { closer, log }: { closer: Closer; log: Logger },
  listener: RequestListener,
): Promise<void> {
  if (metricsPort === undefined) return;
  const address = { host: metricsHost, port: metricsPort, variables: 'METRICS_HOST and METRICS_PORT' };
  const server = await createControlServer({ ...address, meanwhile: pagesOf(listener, log) });
  closer.add('operator port', { drain: server.drain, close: server.close });
}

function pagesOf(listener: RequestListener, log: Logger): RequestListener {
  const rejections = createRejectionLog(log);
  const nothingElse = pageListener((exchange) => rejectPage(exchange, NO_SUCH_PAGE, { rejections }));
  return (request, response) => {
    const isPage = OPERATOR_PATHS.has((request.url ?? '').split('?', 1)[0] ?? '');
    return isPage ? listener(request, response) : nothingElse(request, response);
  };
}
