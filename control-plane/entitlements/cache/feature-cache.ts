import type { AskedFeatureRow } from '../../store/requested-features.ts';

/** Features that were asked for, by key and by id. */
export interface FeatureMemory {
  find(environment: string, name: string): AskedFeatureRow | undefined;
  /** What `read` finds of these names is kept, unless something was forgotten meanwhile. */
  fill(
    environment: string,
    names: readonly string[],
    read: (names: string[]) => Promise<AskedFeatureRow[]>,
  ): Promise<Map<string, AskedFeatureRow>>;
  forgetEnvironment(environment: string): void;
  clear(): void;
  /** All that it holds, to be looked at again. */
  all(): Array<{ environment: string; feature: AskedFeatureRow }>;
}

/** Each stands here under two names, 0.3 KB. When it is full it starts anew: rarely are so many asked for. */
const NAMES_MAX = 40_000;

export function createFeatureMemory(namesMax = NAMES_MAX): FeatureMemory {
  const shelves = new Map<string, Map<string, AskedFeatureRow>>();
  let held = 0;
  let generation = 0;

  function keep(environment: string, row: AskedFeatureRow): void {
    if (held >= namesMax) clear();
    const shelf = shelves.get(environment) ?? new Map<string, AskedFeatureRow>();
    shelves.set(environment, shelf);
    held -= shelf.size;
    shelf.set(row.key, row).set(row.id, row);
    held += shelf.size;
  }

  function clear(): void {
    generation += 1;
    shelves.clear();
    held = 0;
  }

  return {
    find: (environment, name) => shelves.get(environment)?.get(name),
    async fill(environment, names, read) {
      const asked = generation;
      const rows = await read([...new Set(names)]);
      const isStillTrue = asked === generation;
      if (isStillTrue) for (const row of rows) keep(environment, row);
      return new Map(rows.flatMap((row) => [[row.key, row] as const, [row.id, row] as const]));
    },
    forgetEnvironment(environment) {
      generation += 1;
      held -= shelves.get(environment)?.size ?? 0;
      shelves.delete(environment);
    },
    clear,
    all: () =>
      [...shelves].flatMap(([environment, shelf]) =>
        [...new Set(shelf.values())].map((feature) => ({ environment, feature })),
      ),
  };
}
