import { setTimeout as delay } from 'node:timers/promises';

/** Loaders query their partitions all the time: one request per interval serves all of them. */
const APART_MS = 10;

/**
 * Queries the ends of all partitions. A caller gets the response to a request that was sent after its call;
 * callers that come before it is sent share it.
 */
export function createEndsReader(send: () => Promise<number[]>): () => Promise<number[]> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<number[]> | undefined;
  let sentAtMs = Number.NEGATIVE_INFINITY;

  async function sendAfter(before: Promise<unknown>): Promise<number[]> {
    await before;
    const waitMs = sentAtMs + APART_MS - performance.now();
    if (waitMs > 0) await delay(waitMs);
    next = undefined;
    sentAtMs = performance.now();
    const response = send();
    underWay = response.catch(() => undefined);
    return await response;
  }

  return () => {
    next ??= sendAfter(underWay);
    return next;
  };
}
