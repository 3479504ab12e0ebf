/** A load that runs concurrently with an action until it is stopped. */
export interface RunningLoad<S> {
  /** Resolves when it has ended. Rejects when it broke, whenever that was. */
  stop(): Promise<S>;
}

/**
 * Does something while a load goes on, and stops the load whatever comes of it: nothing runs on when this has
 * settled. Where both fail, the error names both.
 */
export async function during<T, S>(
  load: RunningLoad<S>,
  act: () => Promise<T>,
): Promise<{ done: T; summary: S }> {
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

function both(error: unknown, ofLoad: unknown): Error {
  return new Error(`${textOf(error)}; and of the concurrent load: ${textOf(ofLoad)}`, { cause: error });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
