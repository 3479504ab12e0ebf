import type { Meter } from '../meter/meter.ts';
import type { UsageEvent } from '../meter/usage-event.ts';

/** What a route is metered by. */
export interface MeteredRoute<Request, Response> {
  meter: Pick<Meter, 'track'>;
  /**
   * Called when the response was sent; it may return a promise. Undefined: this request is not counted. What
   * it throws, or rejects with, is dropped.
   */
  event: (
    request: Request,
    response: Response,
  ) => UsageEvent | undefined | PromiseLike<UsageEvent | undefined>;
  /** Which responses are counted. Default: a status below 400. What it throws is dropped too. */
  counts?: (status: number) => boolean;
}

export function trackResponse<Request, Response>(
  { meter, event, counts = (status) => status < 400 }: MeteredRoute<Request, Response>,
  exchange: { request: Request; response: Response; status: number },
): void {
  const track = (usage: UsageEvent | undefined): void => {
    if (usage) meter.track(usage);
  };
  try {
    if (!counts(exchange.status)) return;
    const usage = event(exchange.request, exchange.response);
    if (isPromise(usage)) usage.then(track).then(undefined, () => undefined);
    else track(usage);
  } catch {
    // The response is sent: metering must not end the process.
  }
}

function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
