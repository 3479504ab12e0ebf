import type { Registry } from 'prom-client';
import { request } from 'undici';
import { OPEN_ACCESS, type OperatorAccess } from '../infra/operator-access.ts';
import type { Exchange } from '../infra/ports/http-front.ts';
import { ERROR_STATUS, errorBody, type Refusal } from '../schemas/error-codes.ts';
import { unknownParameter } from '../schemas/rules/query-parameters.ts';

export interface OperationsDeps {
  metrics: Registry;
  /** Where the control plane answers; undefined while it does not. */
  controlUrl: () => string | undefined;
  /** What stands in the data plane's own way, by name; empty when it takes events. */
  obstacles: () => Record<string, string> | Promise<Record<string, string>>;
  /** One of several: it tells of itself only, or a control plane that is away would take all of them away. */
  isAlone?: boolean;
  /** Who sees all of it. Default: everybody. */
  access?: OperatorAccess;
  /** The port that these pages are on, where it is their own. */
  localPort?: number | undefined;
  /** What the control plane is shown, where it does not answer everybody. */
  controlToken?: () => string;
}

/** The pages of an operator that both planes answer together. False: the request is another one. */
export function createOperations(deps: OperationsDeps): (exchange: Exchange) => boolean {
  const { access = OPEN_ACCESS, localPort } = deps;
  const pages: Record<string, (exchange: Exchange, refusal?: Refusal) => void | Promise<void>> = {
    '/healthz': (exchange) => sendJson(exchange, 200, { status: 'alive' }),
    '/readyz': (exchange, refusal) => answerReadiness(exchange, deps, refusal === undefined),
    '/metrics': (exchange, refusal) => (refusal ? refuse(exchange, refusal) : answerMetrics(exchange, deps)),
  };
  return (exchange) => {
    const page = READS.has(exchange.method) ? pages[exchange.path.replace(/\/$/, '')] : undefined;
    if (!page) return false;
    const unknown = unknownParameter(new URLSearchParams(exchange.query), []);
    if (unknown) {
      refuse(exchange, unknown);
      return true;
    }
    const authorization = exchange.headers.get('authorization');
    const refusal = access.refusalOf({ authorization, localPort });
    Promise.resolve(page(exchange, refusal)).catch(() => sendJson(exchange, 503, { status: 'unavailable' }));
    return true;
  };
}

const READS = new Set(['GET', 'HEAD']);
const CONTROL_AWAY = { checks: { control: { ok: false, detail: 'is away' } } };
const CONTROL_TIMEOUT_MS = 3_000;
const CONTROL_BYTES_MAX = 8 * 1024 * 1024;

/** 200 when both planes are ready; else 503 with the name of everything that is not. */
async function answerReadiness(exchange: Exchange, deps: OperationsDeps, sees: boolean): Promise<void> {
  const obstacles = await deps.obstacles();
  const isOpen = Object.keys(obstacles).length === 0;
  const dataPlane = isOpen ? 'ok' : obstacles;
  if (deps.isAlone) {
    const status = isOpen ? 'ready' : 'not_ready';
    return sendJson(exchange, isOpen ? 200 : 503, sees ? { status, checks: {}, dataPlane } : { status });
  }
  const control = await askControl(deps, '/readyz');
  const theirs = control ? (JSON.parse(control.text) as Record<string, unknown>) : CONTROL_AWAY;
  const ready = control?.status === 200 && isOpen;
  const status = ready ? 'ready' : 'not_ready';
  sendJson(exchange, ready ? 200 : 503, sees ? { ...theirs, status, dataPlane } : { status });
}

/** The data plane's own metrics, then those of the control side; each line carries its role. */
async function answerMetrics(exchange: Exchange, deps: OperationsDeps): Promise<void> {
  const [own, control] = await Promise.all([
    deps.metrics.metrics(),
    deps.isAlone ? undefined : askControl(deps, '/metrics'),
  ]);
  const text = control?.status === 200 ? `${own}\n${control.text}` : own;
  exchange.respond(200, { 'content-type': deps.metrics.contentType }, Buffer.from(text));
}

async function askControl(
  { controlUrl, controlToken }: OperationsDeps,
  path: string,
): Promise<{ status: number; text: string } | undefined> {
  const url = controlUrl();
  if (url === undefined) return undefined;
  try {
    const headers = controlToken ? { authorization: `Bearer ${controlToken()}` } : {};
    const signal = AbortSignal.timeout(CONTROL_TIMEOUT_MS);
    const answer = await request(new URL(path, url), { signal, headers });
    const { statusCode, body } = answer;
    if (Number(answer.headers['content-length'] ?? 0) > CONTROL_BYTES_MAX) {
      body.destroy();
      return undefined;
    }
    return { status: statusCode, text: await body.text() };
  } catch {
    return undefined; // away, or too slow: readyz says so
  }
}

function refuse(exchange: Exchange, refusal: Refusal): void {
  const body = Buffer.from(errorBody(refusal, exchange.requestId));
  exchange.respond(ERROR_STATUS[refusal.code], { 'content-type': 'application/json' }, body);
}

function sendJson(exchange: Exchange, status: number, body: unknown): void {
  exchange.respond(status, { 'content-type': 'application/json' }, Buffer.from(JSON.stringify(body)));
}
