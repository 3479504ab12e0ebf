/**
 * A bounded quantity that many tenants take from under a name, such as an environment: bytes, places,
 * connections.
 *
 * No name holds more than is left free. So one name alone gets half, two that take all they can get a third
 * each, and when k names hold their maximum, a 2^k-th at least is free for others: no name has to wait until
 * one that stalls gives something back. An amount up to `alwaysMax` is given as long as it is free at all, so
 * that a small total still takes one large request.
 */
export interface FairShares {
  /** False: more than the share of this name, or than there is. Nothing was taken then. */
  take(name: string, amount: number): boolean;
  give(name: string, amount: number): void;
  /** By all names together. */
  readonly held: number;
}

export function createFairShares(max: number, alwaysMax = 0): FairShares {
  const names = new Map<string, Share>();
  let held = 0;
  /** Mostly the next is the same: comparing a name is a fraction of looking it up, which takes 70 ns. */
  let last: Share | undefined;

  function find(name: string): Share | undefined {
    if (last?.name === name) return last;
    const known = names.get(name);
    if (known) last = known;
    return known;
  }

  function add(name: string, amount: number): void {
    last = { name, held: amount };
    names.set(name, last);
  }

  return {
    take(name, amount) {
      const known = find(name);
      const share = (known?.held ?? 0) + amount;
      const free = max - held - amount;
      // mutant: queue-unbounded, queue-bounded-by-count
      if (free < 0 || /* mutant: one-share-for-all */ (share > free && share > alwaysMax)) return false;
      held += amount;
      if (known) known.held = share;
      else add(name, amount);
      return true;
    },
    give(name, amount) {
      const known = find(name);
      if (!known) return;
      held -= amount;
      known.held -= amount;
      // Few are kept though they hold nothing: of one request after the other each would be made and dropped.
      if (known.held > 0 || names.size <= IDLE_NAMES_MAX) return;
      names.delete(name);
      last = undefined;
    },
    get held() {
      return held;
    },
  };
}

interface Share {
  name: string;
  held: number;
}

const IDLE_NAMES_MAX = 256;
