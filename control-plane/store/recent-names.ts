/** Names that are forgotten after a time; beyond `countMax` the one that was added first is dropped. */
export interface RecentNames {
  has(name: string): boolean;
  add(name: string): void;
}

export function createRecentNames(
  { countMax, keptMs }: { countMax: number; keptMs: number },
  nowMs: () => number = () => performance.now(),
): RecentNames {
  const untilMs = new Map<string, number>();
  return {
    has: (name) => (untilMs.get(name) ?? 0) > nowMs(),
    add(name) {
      untilMs.delete(name);
      untilMs.set(name, nowMs() + keptMs);
      const [first] = untilMs.keys();
      if (untilMs.size > countMax && first !== undefined) untilMs.delete(first);
    },
  };
}
