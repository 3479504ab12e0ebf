import { newSpanId, readTraceparent, type TraceContext, traceparentOf } from '../platform/trace-context.ts';
import type { Exchange, RequestHandler, RequestHeaders } from '../ports/http-front.ts';
import type { SpanExporter } from './span-exporter.ts';

/**
 * A handler whose requests are spans where their callers record the trace. All others reach it as they are:
 * they cost the read of one header.
 */
export function traceExchanges(handler: RequestHandler, exporter: SpanExporter): RequestHandler {
  return (exchange) => {
    const trace = readTraceparent(exchange.headers.get('traceparent'));
    handler(trace?.isSampled ? new TracedExchange(exchange, trace, exporter) : exchange);
  };
}

/** The same request, as the parent of what it is forwarded to, until its response has ended. */
class TracedExchange implements Exchange {
  readonly headers: RequestHeaders;
  private readonly inner: Exchange;
  private readonly exporter: SpanExporter;
  private readonly trace: TraceContext;
  private readonly spanId = newSpanId();
  private readonly startMs = nowMs();
  private status: number | undefined;
  private isEnded = false;

  constructor(inner: Exchange, trace: TraceContext, exporter: SpanExporter) {
    this.inner = inner;
    this.trace = trace;
    this.exporter = exporter;
    this.headers = withHeader(inner.headers, 'traceparent', traceparentOf(trace, this.spanId));
    inner.onAborted(() => this.ended());
  }

  get method(): string {
    return this.inner.method;
  }

  get path(): string {
    return this.inner.path;
  }

  get query(): string {
    return this.inner.query;
  }

  get requestId(): string {
    return this.inner.requestId;
  }

  get aborted(): boolean {
    return this.inner.aborted;
  }

  onAborted(listener: () => void): void {
    this.inner.onAborted(listener);
  }

  readBody(onChunk: (chunk: Buffer, isLast: boolean) => void, onEnd: () => void): void {
    this.inner.readBody(onChunk, onEnd);
  }

  pauseBody(): void {
    this.inner.pauseBody();
  }

  resumeBody(): void {
    this.inner.resumeBody();
  }

  respond(status: number, headers: Record<string, string>, body: Buffer, onTaken?: () => void): void {
    this.inner.respond(status, headers, body, onTaken);
    this.status ??= status;
    this.ended();
  }

  begin(status: number, headers: Array<[string, string]>): void {
    this.inner.begin(status, headers);
    this.status ??= status;
  }

  write(chunk: Buffer): boolean {
    return this.inner.write(chunk);
  }

  onDrain(listener: () => void): void {
    this.inner.onDrain(listener);
  }

  end(): void {
    this.inner.end();
    this.ended();
  }

  breakOff(): void {
    this.inner.breakOff();
    this.ended();
  }

  private ended(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    const { method, path, requestId, status, spanId, startMs } = this;
    const { traceId, parentId } = this.trace;
    const endMs = nowMs();
    this.exporter.ended({ traceId, spanId, parentId, method, path, requestId, status, startMs, endMs });
  }
}

function withHeader(headers: RequestHeaders, name: string, value: string): RequestHeaders {
  return {
    get: (asked) => (asked === name ? value : headers.get(asked)),
    has: (asked) => asked === name || headers.has(asked),
    *[Symbol.iterator]() {
      for (const [other, its] of headers) yield other === name ? [name, value] : [other, its];
    },
  };
}

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
