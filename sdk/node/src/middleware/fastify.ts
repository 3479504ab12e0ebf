import { type MeteredRoute, trackResponse } from './metered-route.ts';

/** A hook for `onResponse`, of a route or of all: counts each response that was sent. */
export function meterFastify<Request, Reply extends { statusCode: number }>(
  route: MeteredRoute<Request, Reply>,
) {
  return (request: Request, reply: Reply, done: () => void): void => {
    trackResponse(route, { request, response: reply, status: reply.statusCode });
    done();
  };
}
