import type { Breakable } from './deadlines.ts';

/**
 * Bounds what waits in memory for clients who do not take their answers: each may take its time, and all of
 * them together might be more than the process has.
 */
export interface UnreadResponses {
  /** So much of it waits now. Beyond the bound who has waited longest is broken off. */
  hold(one: Breakable, bytes: number): void;
  letGo(one: Breakable): void;
}

export function createUnreadResponses(bytesMax: number): UnreadResponses {
  /** In the order in which they began to wait. */
  const waiting = new Map<Breakable, number>();
  let heldBytes = 0;

  function letGo(one: Breakable): void {
    heldBytes -= waiting.get(one) ?? 0;
    waiting.delete(one);
  }

  return {
    letGo,
    hold(one, bytes) {
      heldBytes += bytes - (waiting.get(one) ?? 0);
      waiting.set(one, bytes);
      for (const oldest of waiting.keys()) {
        if (heldBytes <= bytesMax) return;
        letGo(oldest);
        // Not now: an answer is being written, perhaps this very one.
        setImmediate(() => oldest.breakOff());
      }
    },
  };
}
