import type { Logger } from 'pino';

/** Between two outages that are told of: a single request that fails is one, and anybody may send it. */
const LOGGED_EVERY_MS = 10_000;

/**
 * One line in the log when the control plane goes away and one when it is back, not one per request, and no
 * more than such a pair in ten seconds. One that is still away by then is told of.
 */
export function createReachableNote(
  log: Logger,
  nowMs: () => number = () => performance.now(),
): (failure: Error | undefined) => void {
  let isAway = false;
  let isNotified = false;
  let notifiedAtMs = Number.NEGATIVE_INFINITY;
  let leftOut = 0;

  function fails(err: Error): void {
    if (isNotified) return;
    const now = nowMs();
    if (now - notifiedAtMs < LOGGED_EVERY_MS) {
      leftOut += 1;
      return;
    }
    log.warn({ err, ...(leftOut === 0 ? {} : { leftOut }) }, 'the control plane does not answer');
    [isNotified, notifiedAtMs, leftOut] = [true, now, 0];
  }

  return (failure) => {
    if (failure !== undefined) fails(failure);
    else if (isAway && isNotified) log.info('the control plane answers again');
    if (failure === undefined) isNotified = false;
    isAway = failure !== undefined;
  };
}
