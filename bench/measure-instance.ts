import type { Instance } from '../tests/support/instance.ts';
import { type OpenedInstance, openInstance } from '../tests/support/open-instance.ts';
import { familyCost, type ProcessCost, processCost } from '../tests/support/process-cost.ts';

/** Opens an instance, measures it and ends it. What failed prints what the instance had logged. */
export async function measureInstance<T>(
  connections: number,
  measure: (opened: OpenedInstance) => Promise<T>,
  environment: Record<string, string> = {},
): Promise<T> {
  const opened = await openInstance({ LOG_LEVEL: 'warn', ...environment }, { connections });
  try {
    return await measure(opened);
  } catch (error) {
    process.stderr.write(`${opened.instance.log()}\n`);
    throw error;
  } finally {
    await opened.close();
  }
}

export type InstanceCosts = Record<'dataPlane' | 'controlSide' | 'postgres', ProcessCost>;

/** What each of its processes has cost so far. */
export function instanceCosts(instance: Instance): InstanceCosts {
  return {
    dataPlane: processCost(instance.pid('data plane')),
    controlSide: processCost(instance.pid('control side')),
    postgres: familyCost(instance.pid('postgres')),
  };
}

/** The largest resident set that each ever had. */
export function rssPeaksMib(costs: Record<string, ProcessCost>): Record<string, number> {
  const peaks = Object.entries(costs).map(([name, cost]) => [name, Math.round(cost.rssPeakBytes / 2 ** 20)]);
  return Object.fromEntries(peaks);
}

/** CPU that each has taken since, by a count of what was done meanwhile, and rounded. */
export function microsSince<Name extends string>(
  before: Record<Name, ProcessCost>,
  after: Record<Name, ProcessCost>,
  each: (micros: number) => number,
): Record<Name, number> {
  const names = Object.keys(after) as Name[];
  const entries = names.map((name) => [name, each(after[name].cpuMicros - before[name].cpuMicros)]);
  return Object.fromEntries(entries) as Record<Name, number>;
}
