import { setTimeout as pass } from 'node:timers/promises';

/** Of a metric by its name, the labels left out: the sum of all its series. */
export type Metrics = ReadonlyMap<string, number>;

const TIMEOUT_MS = 10_000;
/** A page is cached for a second by each of the two processes that make it. */
const CACHED_MS = 2_100;

/** What an instance counts about itself, everything until now included. */
export async function readMetrics(origin: string): Promise<Metrics> {
  await pass(CACHED_MS);
  const response = await fetch(`${origin}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`/metrics returned ${response.status}`);
  return parseMetrics(await response.text());
}

export function parseMetrics(page: string): Metrics {
  const found = new Map<string, number>();
  for (const [, name = '', value] of page.matchAll(/^(\w+)(?:\{[^\n]*\})? (\S+)$/gm)) {
    found.set(name, (found.get(name) ?? 0) + Number(value));
  }
  return found;
}

/** By how much one grew. Throws when it is in neither page. */
export function growthOf(name: string, before: Metrics, after: Metrics): number {
  const value = after.get(name);
  if (value === undefined) throw new Error(`/metrics has no ${name}`);
  return value - (before.get(name) ?? 0);
}
