/** Acts in the same turn of the event loop in which a response begins to arrive. */
export interface ResponseWatch {
  /** To be called for each response: `onResponse` of the client. */
  seen(): void;
  /** Resolves once this many more responses have come and `act` was called. Rejects when they do not come. */
  after(responses: number, act: () => void): Promise<void>;
}

const PATIENCE_MS = 60_000;

export function createResponseWatch(): ResponseWatch {
  let left = Number.POSITIVE_INFINITY;
  let due: () => void = () => undefined;
  return {
    seen() {
      left--;
      if (left === 0) due();
    },
    after(responses, act) {
      return new Promise((resolve, reject) => {
        const late = setTimeout(
          () => reject(new Error(`fewer than ${responses} responses came`)),
          PATIENCE_MS,
        );
        left = responses;
        due = () => {
          act();
          clearTimeout(late);
          resolve();
        };
      });
    },
  };
}
