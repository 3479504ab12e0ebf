/**
 * Asks for the ends of all partitions. Whoever asks gets an answer to a question that was put after he came,
 * and those who come while one is under way share the next.
 */
export function createEndsQuestion(put: () => Promise<number[]>): () => Promise<number[]> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<number[]> | undefined;
  return () => {
    if (next) return next;
    const mine = underWay.then(() => {
      next = undefined;
      const answer = put();
      underWay = answer.catch(() => undefined);
      return answer;
    });
    next = mine;
    return mine;
  };
}
