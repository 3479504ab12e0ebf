import { collectDefaultMetrics, Registry } from 'prom-client';

/**
 * The process's metrics, every one with a `role` label; services define their own in their metrics.ts. Node's
 * own carry the role in their names as well: both processes are read as one page, where a name may appear
 * once.
 */
export function createMetrics(role: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry, prefix: `metergate_${role}_` });
  return registry;
}
