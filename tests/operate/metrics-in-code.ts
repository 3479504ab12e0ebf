import { readFileSync } from 'node:fs';
import { type Metric, Registry } from 'prom-client';
import { createAggregatorMetrics } from '../../aggregator/metrics.ts';
import {
  createClockMetrics,
  createFeedGauges,
  createHttpMetrics,
  createLogWatchMetrics,
  createNotifierMetrics,
  createProcessorMetrics,
  createReadGauges,
  createReservationMetrics,
} from '../../control-plane/metrics.ts';
import { createDeliveryMetrics } from '../../delivery/metrics.ts';
import { createMetrics } from '../../infra/platform/metrics.ts';
import { countLog, createForwardMetrics, createUsageMetrics } from '../../ingest/metrics.ts';

export interface MetricInCode {
  name: string;
  help: string;
  type: string;
  labels: string[];
}

/** Each metric that Metergate defines, without Node's own (nodeMetrics). */
export async function metricsInCode(): Promise<MetricInCode[]> {
  const registry = new Registry();
  const nothing = () => 0;
  const extent = () => ({ start: 0, end: 0 });
  createUsageMetrics(registry, { inFlightBytes: nothing, keys: nothing });
  createForwardMetrics(registry).gauges({ underWay: nothing, streams: nothing, heldBytes: nothing });
  countLog(registry, { extent });
  createAggregatorMetrics(registry);
  createDeliveryMetrics(registry, nothing);
  // Its histogram shows its labels with the first sample only.
  createHttpMetrics(registry).responded('none', 200, 1);
  createClockMetrics(registry, nothing);
  createProcessorMetrics(registry);
  createReadGauges(registry, { lagBytes: nothing, lagSeconds: nothing });
  createFeedGauges(registry, { streams: nothing, customers: nothing, cutOff: nothing });
  createNotifierMetrics(registry, nothing);
  createLogWatchMetrics(registry);
  createReservationMetrics(registry, nothing);
  const found = await registry.getMetricsAsJSON();
  return found.map(({ name, help, type, values }) => ({
    name,
    help,
    type: String(type),
    labels: [
      ...labelsOf(registry.getSingleMetric(name)),
      ...values.flatMap(({ labels }) => Object.keys(labels)),
    ],
  }));
}

/** As defined by Node's client for each role, with the role in the name. */
export function nodeMetrics(): string[] {
  return ['ingest', 'control', 'aggregator', 'delivery'].flatMap((role) =>
    createMetrics(role)
      .getMetricsAsArray()
      .map(({ name }) => name),
  );
}

/** Names that the sources give to a metric, to see that the list above has all of them. */
export function namesInSources(): string[] {
  const files = ['ingest', 'aggregator', 'control-plane', 'delivery'].map((room) => `${room}/metrics.ts`);
  return files.flatMap((file) => readFileSync(file, 'utf8').match(/(?<=')metergate_\w+(?=')/g) ?? []);
}

/** Its own, those that every sample has, and `le` of histograms. */
function labelsOf(metric: Metric | undefined): string[] {
  const { labelNames = [] } = (metric ?? {}) as { labelNames?: readonly string[] };
  return [...labelNames, 'role', 'instance', 'job', 'le'];
}
