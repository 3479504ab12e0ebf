import { setImmediate as nextTurn } from 'node:timers/promises';

/** Runs work that yields where other work of this process may have a turn. */
export async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}
