import { setTimeout as delay } from 'node:timers/promises';

/** Loaders ask for their partitions all the time: one question in so many milliseconds is for all of them. */
const APART_MS = 10;

/**
 * Asks for the ends of all partitions. Whoever asks gets an answer to a question that was put after he came,
 * and those who come before it is put share it.
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
