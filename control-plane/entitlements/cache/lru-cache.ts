/**
 * Entries under an id and other names, bounded by count and size: the least recently used is evicted first.
 */
export interface LruCache<Entry extends Cached> {
  find(name: string): Entry | undefined;
  /** Replaces an entry with the same id. */
  put(entry: Entry): void;
  remove(id: string): void;
  removeWhere(isMeant: (entry: Entry) => boolean): void;
  /** Everything used from now on counts as more recent than everything before. */
  nextRound(): void;
  /** How many rounds ago the entry was used last. */
  idleRounds(entry: Entry): number;
  all(): Iterable<Entry>;
}

export interface Cached {
  id: string;
  /** Includes its id, if it is to be found by that. */
  names: readonly string[];
  bytes: number;
  /** Set by the cache. */
  usedRound: number;
}

export interface CacheBounds {
  countMax: number;
  bytesMax: number;
}

/** The order is kept by rounds and not by each use, which would cost more than the read itself. */
export function createLruCache<Entry extends Cached>(bounds: CacheBounds): LruCache<Entry> {
  const byName = new Map<string, Entry>();
  const byId = new Map<string, Entry>();
  let bytes = 0;
  let round = 0;

  function remove(entry: Entry | undefined): void {
    if (!entry || byId.get(entry.id) !== entry) return;
    byId.delete(entry.id);
    for (const name of entry.names) byName.delete(name);
    bytes -= entry.bytes;
  }

  function use(entry: Entry): void {
    if (entry.usedRound === round) return;
    entry.usedRound = round;
    byId.delete(entry.id);
    byId.set(entry.id, entry);
  }

  return {
    find(name) {
      const entry = byName.get(name);
      if (entry) use(entry);
      return entry;
    },
    put(entry) {
      remove(byId.get(entry.id));
      for (const name of entry.names) {
        remove(byName.get(name));
        byName.set(name, entry);
      }
      entry.usedRound = round;
      byId.set(entry.id, entry);
      bytes += entry.bytes;
      while (byId.size > bounds.countMax || bytes > bounds.bytesMax) remove(byId.values().next().value);
    },
    remove: (id) => remove(byId.get(id)),
    removeWhere(isMeant) {
      for (const entry of byId.values()) if (isMeant(entry)) remove(entry);
    },
    nextRound() {
      round += 1;
    },
    idleRounds: ({ usedRound }) => round - usedRound,
    all: () => byId.values(),
  };
}
