import type { Logger } from 'pino';

/** Between two outages that are told of: a single request that fails is one, and anybody may send it. */
const TOLD_EVERY_MS = 10_000;

/**
 * One line in the log when the control plane goes away and one when it is back, not one per request, and no
 * more than such a pair in ten seconds. One that is still away by then is told of.
 */
export function createReachableNote(
  log: Logger,
  nowMs: () => number = () => performance.now(),
): (failure: Error | undefined) => void {
  let isAway = false;
  let isTold = false;
  let toldAtMs = Number.NEGATIVE_INFINITY;
  let leftOut = 0;

  function fails(err: Error): void {
    if (isTold) return;
    const now = nowMs();
    if (now - toldAtMs < TOLD_EVERY_MS) {
      leftOut += 1;
      return;
    }
    log.warn({ err, ...(leftOut === 0 ? {} : { leftOut }) }, 'the control plane does not answer');
    [isTold, toldAtMs, leftOut] = [true, now, 0];
  }

  return (failure) => {
    if (failure !== undefined) fails(failure);
    else if (isAway && isTold) log.info('the control plane answers again');
    if (failure === undefined) isTold = false;
    isAway = failure !== undefined;
  };
}
