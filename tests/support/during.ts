/** What goes on beside something else until it is stopped. */
export interface Beside<S> {
  /** Resolves when it has ended. Rejects when it broke, whenever that was. */
  stop(): Promise<S>;
}

/**
 * Does something while a load goes on, and stops the load whatever comes of it: nothing runs on when this has
 * settled. Where both fail, both are told.
 */
export async function during<T, S>(load: Beside<S>, act: () => Promise<T>): Promise<{ done: T; summary: S }> {
  const acted = await settle(act);
  const stopped = await settle(() => load.stop());
  if ('error' in acted) throw 'error' in stopped ? both(acted.error, stopped.error) : acted.error;
  if ('error' in stopped) throw stopped.error;
  return { done: acted.value, summary: stopped.value };
}

type Settled<T> = { value: T } | { error: unknown };

async function settle<T>(act: () => Promise<T>): Promise<Settled<T>> {
  try {
    return { value: await act() };
  } catch (error) {
    return { error };
  }
}

function both(error: unknown, beside: unknown): Error {
  return new Error(`${textOf(error)}; and of the load beside it: ${textOf(beside)}`, { cause: error });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
