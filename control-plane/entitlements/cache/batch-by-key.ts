/**
 * Batches work by key, one batch per key at a time: items that arrive while a batch runs form the next one.
 * Resolves or rejects with the batch that the item was part of.
 */
export type Gathering<T> = (name: string, thing: T) => Promise<void>;

/** Keeps only keys with waiting items. */
export function createBatchByKey<T>(work: (things: T[]) => Promise<void>): Gathering<T> {
  const open = new Map<string, { things: T[]; done: Promise<void> }>();
  const underWay = new Map<string, Promise<void>>();

  function begin(name: string, first: T): Promise<void> {
    const things = [first];
    const done = (underWay.get(name) ?? Promise.resolve()).then(() => {
      open.delete(name);
      return work(things);
    });
    const ended = done.then(forget, forget);
    function forget(): void {
      if (underWay.get(name) === ended) underWay.delete(name);
    }
    open.set(name, { things, done });
    underWay.set(name, ended);
    return done;
  }

  return (name, thing) => {
    const next = open.get(name);
    if (!next) return begin(name, thing);
    next.things.push(thing);
    return next.done;
  };
}
