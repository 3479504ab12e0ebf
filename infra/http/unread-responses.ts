import type { Breakable } from './deadlines.ts';

/**
 * Bounds the memory of responses that clients do not read: each client may take its time, but all of them
 * together might exceed the memory of the process.
 */
export interface UnreadResponses {
  /** Adds bytes that wait. Beyond the bound the client that has waited longest is disconnected. */
  hold(one: Breakable, bytes: number): void;
  release(one: Breakable): void;
}

export function createUnreadResponses(bytesMax: number): UnreadResponses {
  /** In the order in which they began to wait. */
  const waiting = new Map<Breakable, number>();
  let heldBytes = 0;

  function release(one: Breakable): void {
    heldBytes -= waiting.get(one) ?? 0;
    waiting.delete(one);
  }

  return {
    release,
    hold(one, bytes) {
      heldBytes += bytes - (waiting.get(one) ?? 0);
      waiting.set(one, bytes);
      for (const oldest of waiting.keys()) {
        // mutant: unread-responses-without-bound
        if (heldBytes <= bytesMax) return;
        release(oldest);
        // Not now: a response is being written, perhaps this very one.
        setImmediate(() => oldest.breakOff());
      }
    },
  };
}
