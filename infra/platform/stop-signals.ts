/** Signals that end a process. SIGHUP: the terminal was closed. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/**
 * A Ctrl-C reaches a program under npm twice: from the terminal and, a short time later, from npm, which
 * passes it on. Only a signal after this long is meant as a second one.
 */
const SAME_SIGNAL_MS = 500;

/** Calls `stop` on the first signal and `force` on each one that comes clearly later. */
export function onStopSignals(stop: (signal: NodeJS.Signals) => void, force: () => void): void {
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      stop(signal);
    } else if (now - firstAt > SAME_SIGNAL_MS) {
      force();
    }
  };
  for (const name of STOP_SIGNALS) process.on(name, onSignal);
}
