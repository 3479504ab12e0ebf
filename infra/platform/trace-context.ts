import { randomBytes } from 'node:crypto';

/** W3C Trace Context: the place of a request in the trace of its caller. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits: the span of the caller. */
  parentId: string;
  /** The caller records the trace. */
  isSampled: boolean;
}

const FORM = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const CHARS_MAX = 512;

/** Undefined where it is left out or not valid. Of a later version the known part is read. */
export function readTraceparent(header: string | undefined): TraceContext | undefined {
  if (header === undefined || header.length > CHARS_MAX) return undefined;
  const [, version, traceId, parentId, flags = '', more] = FORM.exec(header.trim()) ?? [];
  if (traceId === undefined || parentId === undefined) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, parentId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The same trace with another parent, as a header. */
export function traceparentOf({ traceId, isSampled }: TraceContext, spanId: string): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

export function newSpanId(): string {
  return randomBytes(8).toString('hex');
}
