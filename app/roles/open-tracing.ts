import { PRODUCT_VERSION } from '../../infra/platform/product-version.ts';
import { createSpanExporter, type SpanExporter } from '../../infra/tracing/span-exporter.ts';
import type { RoleContext } from './role-process.ts';

/** Where the spans of this process go; undefined where OTEL_EXPORTER_OTLP_ENDPOINT is not set. */
export function openTracing({ config, closer, log }: RoleContext): SpanExporter | undefined {
  if (!config.tracing) return undefined;
  const exporter = createSpanExporter({ ...config.tracing, serviceVersion: PRODUCT_VERSION, log });
  closer.add('spans', { close: () => exporter.close() });
  return exporter;
}
