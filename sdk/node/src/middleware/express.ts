import { type MeteredRoute, trackResponse } from './metered-route.ts';

/** As much as is used of the response of Express and of node:http. */
interface FinishedResponse {
  statusCode: number;
  headersSent: boolean;
  once(event: 'close', listener: () => void): unknown;
}

/**
 * A handler for `app.use` or one route: counts each response that was sent, or begun when its client left.
 */
export function meterExpress<Request, Response extends FinishedResponse>(
  route: MeteredRoute<Request, Response>,
) {
  return (request: Request, response: Response, next: () => void): void => {
    response.once('close', () => {
      // Before that its status is not set.
      if (response.headersSent) trackResponse(route, { request, response, status: response.statusCode });
    });
    next();
  };
}
