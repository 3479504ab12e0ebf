import type { Logger } from 'pino';
import { request } from 'undici';

/** A request that this process served, as a part of the trace of its caller. */
export interface ServedSpan {
  traceId: string;
  spanId: string;
  parentId: string;
  method: string;
  /** Without the query, which may hold anything. */
  path: string;
  requestId: string;
  /** Undefined: the client disconnected before it had a response. */
  status: number | undefined;
  /** Milliseconds since 1970; the fraction counts. */
  startMs: number;
  endMs: number;
}

export interface SpanExporter {
  /** Never waits and never throws. Beyond the bound the span is dropped. */
  ended(span: ServedSpan): void;
  /** Sends what there is, for some seconds. */
  close(): Promise<void>;
}

export interface ExporterSettings {
  /** Where spans go: a collector of OpenTelemetry, which takes OTLP over HTTP as JSON. */
  url: string;
  headers: Record<string, string>;
  serviceName: string;
  serviceVersion: string;
}

interface ExporterOptions extends ExporterSettings {
  log: Logger;
  everyMs?: number;
  queuedMax?: number;
  /** Of one request, and of the close as a whole. */
  timeoutMs?: number;
}

const EVERY_MS = 2_000;
/** About 0.4 KB each. */
const QUEUED_MAX = 4_096;
const TOGETHER_MAX = 512;
const TIMEOUT_MS = 5_000;

/** One request at a time: a collector that hangs costs spans and nothing else. */
export function createSpanExporter(options: ExporterOptions): SpanExporter {
  const { log, everyMs = EVERY_MS, queuedMax = QUEUED_MAX, timeoutMs = TIMEOUT_MS } = options;
  let queued: ServedSpan[] = [];
  let dropped = 0;
  let sending: Promise<void> | undefined;
  let endsAtMs = Number.POSITIVE_INFINITY;

  function ended(span: ServedSpan): void {
    if (queued.length >= queuedMax) dropped += 1;
    else queued.push(span);
  }

  async function sendNext(): Promise<void> {
    const spans = queued.slice(0, TOGETHER_MAX);
    queued = queued.slice(TOGETHER_MAX);
    try {
      await post(options, spans, Math.min(timeoutMs, Math.ceil(endsAtMs - performance.now())));
    } catch (err) {
      dropped += spans.length;
      log.debug({ err }, 'spans could not be sent');
    }
  }

  async function sendAll(): Promise<void> {
    while (queued.length > 0 && performance.now() < endsAtMs) await sendNext();
    if (endsAtMs !== Number.POSITIVE_INFINITY) dropped += queued.splice(0).length;
    if (dropped > 0) log.warn({ dropped }, 'spans were dropped');
    dropped = 0;
  }

  function send(): Promise<void> {
    sending ??= sendAll().finally(() => {
      sending = undefined;
    });
    return sending;
  }

  const timer = setInterval(() => void send(), everyMs);
  timer.unref();
  return {
    ended,
    async close() {
      clearInterval(timer);
      endsAtMs = performance.now() + timeoutMs;
      await send();
    },
  };
}

async function post(
  { url, headers, ...service }: ExporterSettings,
  spans: readonly ServedSpan[],
  timeoutMs: number,
): Promise<void> {
  const { statusCode, body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(exportOf(spans, service)),
    signal: AbortSignal.timeout(timeoutMs),
  });
  await body.dump();
  if (statusCode >= 300) throw new Error(`the collector responded with ${statusCode}`);
}

/** ExportTraceServiceRequest, in its JSON encoding: ids are hexadecimal, 64-bit numbers are texts. */
function exportOf(
  spans: readonly ServedSpan[],
  { serviceName, serviceVersion }: Pick<ExporterSettings, 'serviceName' | 'serviceVersion'>,
) {
  const attributes = attributesOf({ 'service.name': serviceName, 'service.version': serviceVersion });
  return {
    resourceSpans: [
      { resource: { attributes }, scopeSpans: [{ scope: { name: 'metergate' }, spans: spans.map(spanOf) }] },
    ],
  };
}

const SERVER = 2;
const ERROR = 2;

function spanOf({ traceId, spanId, parentId, method, path, requestId, status, startMs, endMs }: ServedSpan) {
  const isFault = status === undefined || status >= 500;
  return {
    ...{ traceId, spanId, parentSpanId: parentId, name: method, kind: SERVER },
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes: attributesOf({
      'http.request.method': method,
      'url.path': path,
      'metergate.request_id': requestId,
      ...(status === undefined ? {} : { 'http.response.status_code': status }),
    }),
    ...(isFault ? { status: { code: ERROR } } : {}),
  };
}

function attributesOf(values: Record<string, string | number>) {
  return Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));
}

function nanos(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, '0')}`;
}
