import type { Meter } from '../meter/meter.ts';
import type { UsageEvent } from '../meter/usage-event.ts';

/** What a route is metered by. */
export interface MeteredRoute<Request, Response> {
  meter: Pick<Meter, 'track'>;
  /** Called when the response was sent. Undefined: this request is not counted. What it throws is dropped. */
  event: (request: Request, response: Response) => UsageEvent | undefined;
  /** Which responses are counted. Default: a status below 400. */
  counts?: (status: number) => boolean;
}

export function trackResponse<Request, Response>(
  { meter, event, counts = (status) => status < 400 }: MeteredRoute<Request, Response>,
  exchange: { request: Request; response: Response; status: number },
): void {
  if (!counts(exchange.status)) return;
  try {
    const usage = event(exchange.request, exchange.response);
    if (usage) meter.track(usage);
  } catch {
    // The response is sent: metering must not end the process.
  }
}
