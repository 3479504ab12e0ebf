import type { EnvReader } from './env-reader.ts';

/** Names and meanings are those of OpenTelemetry. */
export const TRACING_VARIABLES = [
  'OTEL_EXPORTER_OTLP_ENDPOINT', // spans go to its /v1/traces, as JSON; none
  'OTEL_EXPORTER_OTLP_HEADERS', // name=value,… of requests to it, percent-encoded; none
  'OTEL_SERVICE_NAME', //         of these spans; metergate
] as const;

type Variable = (typeof TRACING_VARIABLES)[number];

export interface Tracing {
  /** Of the path for traces. */
  url: string;
  headers: Record<string, string>;
  serviceName: string;
}

/** Undefined: no spans. */
export function readTracing(
  env: Partial<Record<Variable, string>>,
  read: EnvReader<Variable>,
): Tracing | undefined {
  const endpoint = read.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']);
  const headers = headersIn(env.OTEL_EXPORTER_OTLP_HEADERS ?? '');
  if (!headers) read.fault('OTEL_EXPORTER_OTLP_HEADERS', 'has to be name=value pairs, separated by commas');
  if (endpoint === undefined || !headers) return undefined;
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  return { url, headers, serviceName: env.OTEL_SERVICE_NAME ?? 'metergate' };
}

const PAIR = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*([\x21-\x7e]*)\s*$/;

function headersIn(text: string): Record<string, string> | undefined {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  const headers: Record<string, string> = {};
  for (const pair of pairs) {
    const [, name, value = ''] = PAIR.exec(pair) ?? [];
    if (name === undefined) return undefined;
    try {
      headers[name.toLowerCase()] = decodeURIComponent(value);
    } catch {
      return undefined;
    }
  }
  return headers;
}
