import { useEffect, useState } from 'preact/hooks';

/** One value that components share. */
export interface Store<T> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(first: T): Store<T> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The value of a store; the component is rendered again with each new one. */
export function useStore<T>(store: Store<T>): T {
  const [, setTurn] = useState(0);
  const shown = store.get();
  useEffect(() => {
    const again = (): void => setTurn((turn) => turn + 1);
    // It may have changed since it was shown: effects begin only after the page is painted.
    if (!Object.is(store.get(), shown)) again();
    return store.subscribe(again);
  }, [store]);
  return shown;
}
