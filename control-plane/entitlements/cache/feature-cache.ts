import type { RequestedFeatureRow } from '../../store/requested-features.ts';

/** Requested features, by key and by id. */
export interface FeatureCache {
  find(environment: string, name: string): RequestedFeatureRow | undefined;
  /** Caches what `read` finds for these names, unless there was an invalidation meanwhile. */
  fill(
    environment: string,
    names: readonly string[],
    read: (names: string[]) => Promise<RequestedFeatureRow[]>,
  ): Promise<Map<string, RequestedFeatureRow>>;
  forgetEnvironment(environment: string): void;
  clear(): void;
  /** All cached features, to be checked again. */
  all(): Array<{ environment: string; feature: RequestedFeatureRow }>;
}

/**
 * Each entry is stored under two names, 0.3 KB. A full cache is emptied: so many features are rarely
 * requested.
 */
const NAMES_MAX = 40_000;

export function createFeatureCache(namesMax = NAMES_MAX): FeatureCache {
  const caches = new Map<string, Map<string, RequestedFeatureRow>>();
  let names = 0;
  let generation = 0;

  function keep(environment: string, row: RequestedFeatureRow): void {
    if (names >= namesMax) clear();
    const cache = caches.get(environment) ?? new Map<string, RequestedFeatureRow>();
    caches.set(environment, cache);
    names -= cache.size;
    cache.set(row.key, row).set(row.id, row);
    names += cache.size;
  }

  function clear(): void {
    generation += 1;
    caches.clear();
    names = 0;
  }

  return {
    find: (environment, name) => caches.get(environment)?.get(name),
    async fill(environment, names, read) {
      const requested = generation;
      const rows = await read([...new Set(names)]);
      const isStillValid = requested === generation;
      if (isStillValid) for (const row of rows) keep(environment, row);
      return new Map(rows.flatMap((row) => [[row.key, row] as const, [row.id, row] as const]));
    },
    forgetEnvironment(environment) {
      generation += 1;
      names -= caches.get(environment)?.size ?? 0;
      caches.delete(environment);
    },
    clear,
    all: () =>
      [...caches].flatMap(([environment, cache]) =>
        [...new Set(cache.values())].map((feature) => ({ environment, feature })),
      ),
  };
}
