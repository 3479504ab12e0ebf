import type { Registry } from 'prom-client';
import { request } from 'undici';
import { OPEN_ACCESS, type OperatorAccess } from '../../infra/platform/operator-access.ts';
import {
  NO_SUCH_PAGE,
  OPERATOR_METHODS,
  operatorPageRejection,
} from '../../infra/platform/operator-paths.ts';
import { PRODUCT_VERSION } from '../../infra/platform/product-version.ts';
import type { RejectionLog } from '../../infra/platform/rejection-log.ts';
import { shareOutcome } from '../../infra/platform/shared-outcome.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { CONTROL_UNREACHABLE } from '../../schemas/readiness-names.ts';
import type { Readiness } from '../../schemas/resources/service.ts';
import { rejectedRequest, sendRejection } from './send-rejection.ts';

export interface OperationsDeps {
  metrics: Registry;
  /** The control plane's URL; undefined while it does not respond. */
  controlUrl: () => string | undefined;
  /** The data plane's own blockers, by name; empty when it takes events. */
  blockers: () => Record<string, string> | Promise<Record<string, string>>;
  /**
   * One of several data planes: it reports itself only, or an outage of the control plane would take all
   * down.
   */
  isAlone?: boolean;
  /** Which callers see the whole page. Default: all. */
  access?: OperatorAccess;
  /** The other port that these pages are on, where they have their own. */
  ownPort?: number | undefined;
  /** The page for the control plane, where the page is not public. */
  controlToken?: () => string;
  rejections?: RejectionLog;
}

/** The pages of an operator for which both planes contribute. */
export interface Operations {
  /** On the public port. False: the request is another one. */
  (exchange: Exchange): boolean;
  /** On their own port, where there is nothing else. */
  onOwnPort(exchange: Exchange): void;
}

/** The pages are made once for all concurrent requests, on both ports (infra/platform/shared-outcome.ts). */
export function createOperations(deps: OperationsDeps): Operations {
  const { access = OPEN_ACCESS, rejections } = deps;
  const readiness = shareOutcome(() => findReadiness(deps));
  const metricsText = shareOutcome(() => findMetrics(deps));

  const pages = new Map<string, (exchange: Exchange, rejection?: Rejection) => Promise<void>>([
    ['/healthz', async (exchange) => sendJson(exchange, 200, { status: 'alive' })],
    [
      '/readyz',
      async (exchange, rejection) => {
        const all = await readiness();
        const { status } = all;
        sendJson(exchange, status === 'ready' ? 200 : 503, rejection ? { status } : all);
      },
    ],
    [
      '/metrics',
      async (exchange, rejection) => {
        if (rejection) return reject(exchange, rejection);
        const text = await metricsText();
        exchange.respond(200, { 'content-type': deps.metrics.contentType }, Buffer.from(text));
      },
    ],
  ]);

  function respond(exchange: Exchange, localPort: number | undefined): boolean {
    const page = pages.get(exchange.path);
    if (!page) return false;
    const rejected = operatorPageRejection(exchange.method, new URLSearchParams(exchange.query));
    if (rejected) {
      reject(exchange, rejected);
      return true;
    }
    const authorization = exchange.headers.get('authorization');
    const rejection = access.rejectionOf({ authorization, localPort });
    page(exchange, rejection).catch(() => sendJson(exchange, 503, { status: 'unavailable' }));
    return true;
  }

  function reject(exchange: Exchange, rejection: Rejection): void {
    const { code } = rejection;
    const status = sendRejection(exchange, rejection, code === 'method_not_allowed' ? ALLOWED : {});
    rejections?.rejected(status, () => rejectedRequest(exchange, code));
  }

  return Object.assign((exchange: Exchange) => respond(exchange, undefined), {
    onOwnPort(exchange: Exchange) {
      if (!respond(exchange, deps.ownPort)) reject(exchange, NO_SUCH_PAGE);
    },
  });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const ALLOWED = { allow: OPERATOR_METHODS };
const CONTROL_AWAY = { checks: { [CONTROL_UNREACHABLE]: { ok: false, detail: 'is unavailable' } } };
const CONTROL_TIMEOUT_MS = 3_000;
const CONTROL_BYTES_MAX = 8 * 1024 * 1024;

/** `ready` when both planes are; else with the name of everything that is not. */
async function findReadiness(deps: OperationsDeps): Promise<Readiness> {
  const blockers = await deps.blockers();
  const isOpen = Object.keys(blockers).length === 0;
  const dataPlane: Readiness['dataPlane'] = isOpen ? 'ok' : blockers;
  const own = { version: PRODUCT_VERSION, dataPlane };
  if (deps.isAlone) return { status: isOpen ? 'ready' : 'not_ready', checks: {}, ...own };
  const control = await fetchFromControl(deps, '/readyz');
  const theirs = control ? (JSON.parse(control.text) as Partial<Readiness>) : CONTROL_AWAY;
  const isReady = control?.status === 200 && isOpen;
  return { ...theirs, status: isReady ? 'ready' : 'not_ready', ...own };
}

/** The data plane's own metrics, then those of the control side; each line carries its role. */
async function findMetrics(deps: OperationsDeps): Promise<string> {
  const [own, control] = await Promise.all([
    deps.metrics.metrics(),
    deps.isAlone ? undefined : fetchFromControl(deps, '/metrics'),
  ]);
  return control?.status === 200 ? `${own}\n${control.text}` : own;
}

async function fetchFromControl(
  { controlUrl, controlToken }: OperationsDeps,
  path: string,
): Promise<{ status: number; text: string } | undefined> {
  const url = controlUrl();
  if (url === undefined) return undefined;
  try {
    const headers = controlToken ? { authorization: `Bearer ${controlToken()}` } : {};
    const signal = AbortSignal.timeout(CONTROL_TIMEOUT_MS);
    const response = await request(new URL(path, url), { signal, headers });
    const { statusCode, body } = response;
    if (Number(response.headers['content-length'] ?? 0) > CONTROL_BYTES_MAX) {
      body.destroy();
      return undefined;
    }
    return { status: statusCode, text: await body.text() };
  } catch {
    return undefined; // unavailable or too slow: readyz reports it
  }
}

function sendJson(exchange: Exchange, status: number, body: unknown): void {
  exchange.respond(status, JSON_TYPE, Buffer.from(JSON.stringify(body)));
}
