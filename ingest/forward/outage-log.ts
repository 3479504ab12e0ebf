import type { Logger } from 'pino';

/** Between two outages that are logged: a single failed request is one, and any client may send it. */
const LOGGED_EVERY_MS = 10_000;

/**
 * One line in the log when the control plane becomes unavailable and one when it is back, not one per
 * request, and at most one outage in ten seconds. An outage that lasts longer than that is logged.
 */
export function createOutageLog(
  log: Logger,
  nowMs: () => number = () => performance.now(),
): (failure: Error | undefined) => void {
  let isUnavailable = false;
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
    log.warn({ err, ...(leftOut === 0 ? {} : { leftOut }) }, 'the control plane does not respond');
    [isNotified, notifiedAtMs, leftOut] = [true, now, 0];
  }

  return (failure) => {
    if (failure !== undefined) fails(failure);
    else if (isUnavailable && isNotified) log.info('the control plane responds again');
    if (failure === undefined) isNotified = false;
    isUnavailable = failure !== undefined;
  };
}
