/**
 * Entries under an id and other names, bounded by count and size: the least recently used is evicted first.
 */
export interface BoundedCache<Thing extends Cached> {
  find(name: string): Thing | undefined;
  /** Replaces an entry with the same id. */
  put(thing: Thing): void;
  remove(id: string): void;
  removeWhere(isMeant: (thing: Thing) => boolean): void;
  /** Everything used from now on counts as more recent than everything before. */
  nextRound(): void;
  /** How many rounds ago the entry was used last. */
  idleRounds(thing: Thing): number;
  all(): Iterable<Thing>;
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
export function createBoundedCache<Thing extends Cached>(bounds: CacheBounds): BoundedCache<Thing> {
  const byName = new Map<string, Thing>();
  const byId = new Map<string, Thing>();
  let bytes = 0;
  let round = 0;

  function remove(thing: Thing | undefined): void {
    if (!thing || byId.get(thing.id) !== thing) return;
    byId.delete(thing.id);
    for (const name of thing.names) byName.delete(name);
    bytes -= thing.bytes;
  }

  function use(thing: Thing): void {
    if (thing.usedRound === round) return;
    thing.usedRound = round;
    byId.delete(thing.id);
    byId.set(thing.id, thing);
  }

  return {
    find(name) {
      const thing = byName.get(name);
      if (thing) use(thing);
      return thing;
    },
    put(thing) {
      remove(byId.get(thing.id));
      for (const name of thing.names) {
        remove(byName.get(name));
        byName.set(name, thing);
      }
      thing.usedRound = round;
      byId.set(thing.id, thing);
      bytes += thing.bytes;
      while (byId.size > bounds.countMax || bytes > bounds.bytesMax) remove(byId.values().next().value);
    },
    remove: (id) => remove(byId.get(id)),
    removeWhere(isMeant) {
      for (const thing of byId.values()) if (isMeant(thing)) remove(thing);
    },
    nextRound() {
      round += 1;
    },
    idleRounds: ({ usedRound }) => round - usedRound,
    all: () => byId.values(),
  };
}
