/**
 * Batches work by key, one batch per key at a time: items that arrive while a batch runs form the next one.
 * Resolves or rejects with the batch that the item was part of.
 */
export type BatchByKey<T> = (key: string, item: T) => Promise<void>;

/** Keeps only keys with waiting items. */
export function createBatchByKey<T>(work: (items: T[]) => Promise<void>): BatchByKey<T> {
  const open = new Map<string, { items: T[]; done: Promise<void> }>();
  const underWay = new Map<string, Promise<void>>();

  function begin(key: string, first: T): Promise<void> {
    const items = [first];
    const done = (underWay.get(key) ?? Promise.resolve()).then(() => {
      open.delete(key);
      return work(items);
    });
    const ended = done.then(forget, forget);
    function forget(): void {
      if (underWay.get(key) === ended) underWay.delete(key);
    }
    open.set(key, { items, done });
    underWay.set(key, ended);
    return done;
  }

  return (key, item) => {
    const next = open.get(key);
    if (!next) return begin(key, item);
    next.items.push(item);
    return next.done;
  };
}
