import type { RequestListener } from 'node:http';
import { newSpanId, readTraceparent } from '../platform/trace-context.ts';
import type { SpanExporter } from './span-exporter.ts';

/** A listener of node:http whose requests are spans where their callers record the trace. */
export function traceRequests(listener: RequestListener, exporter: SpanExporter): RequestListener {
  return (request, response) => {
    const { traceparent } = request.headers;
    const trace = readTraceparent(typeof traceparent === 'string' ? traceparent : undefined);
    if (trace?.isSampled) {
      const { traceId, parentId } = trace;
      const startMs = nowMs();
      response.once('close', () => {
        const { method = '', url = '' } = request;
        const [path = ''] = url.split('?', 1);
        exporter.ended({
          ...{ traceId, parentId, spanId: newSpanId(), method, path, startMs, endMs: nowMs() },
          requestId: String(response.getHeader('x-request-id') ?? ''),
          status: response.headersSent ? response.statusCode : undefined,
        });
      });
    }
    listener(request, response);
  };
}

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
