import { collectDefaultMetrics, Registry } from 'prom-client';

/** The process's metrics, every one with a `role` label. Services define their own in their metrics.ts. */
export function createMetrics(role: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry, prefix: `metergate_${role}_` });
  return registry;
}
