import { setTimeout as delay } from 'node:timers/promises';

/** Loaders query their partitions all the time: one request per interval serves all of them. */
const APART_MS = 10;

/**
 * Queries the ends of all partitions. A caller gets the response to a request that was sent after its call;
 * callers that come before it is sent share it.
 */
export function createEndsQuestion(put: () => Promise<number[]>): () => Promise<number[]> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<number[]> | undefined;
  let putAtMs = Number.NEGATIVE_INFINITY;

  async function putAfter(before: Promise<unknown>): Promise<number[]> {
    await before;
    const waitMs = putAtMs + APART_MS - performance.now();
    if (waitMs > 0) await delay(waitMs);
    next = undefined;
    putAtMs = performance.now();
    const response = put();
    underWay = response.catch(() => undefined);
    return await response;
  }

  return () => {
    next ??= putAfter(underWay);
    return next;
  };
}
