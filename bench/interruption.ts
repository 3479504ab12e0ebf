/** Ends a wait because the run was interrupted, not because of what was waited for. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted');
  }
}

/** Exit code of a run that was interrupted. */
export const INTERRUPTED_CODE = 130;

/** Aborted by the first SIGINT or SIGTERM, which prints the notice; the second ends the process. */
export function interruption(notice: string): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(INTERRUPTED_CODE);
      process.stderr.write(`\ninterrupted: ${notice}\n`);
      controller.abort();
    });
  }
  return controller.signal;
}

/** What was begun; rejects with Interrupted that long after the signal, and what was begun ends unheard. */
export async function unlessAborted<T>(begun: Promise<T>, signal: AbortSignal, graceMs = 0): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => undefined;
  const cut = new Promise<never>((_, reject) => {
    onAbort = () => {
      timer = setTimeout(() => reject(new Interrupted()), graceMs);
    };
  });
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([begun, cut]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
