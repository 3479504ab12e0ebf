import { createStore, useStore } from '../app/store.ts';

const SHOWN_MS = 5_000;
const toasts = createStore<ReadonlyArray<{ text: string }>>([]);

/** Says for some seconds what was done. */
export function say(text: string): void {
  const toast = { text };
  toasts.set([...toasts.get().slice(-2), toast]);
  setTimeout(() => toasts.set(toasts.get().filter((one) => one !== toast)), SHOWN_MS);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {useStore(toasts).map(({ text }) => (
        <p class="toast">{text}</p>
      ))}
    </div>
  );
}
