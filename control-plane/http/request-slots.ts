import { createFairShares } from '../../infra/platform/fair-shares.ts';
import { Rejected } from '../../schemas/failures.ts';
import type { Caller } from './request-context.ts';

/** Serves a request of this caller. Throws Rejected `overloaded` while its share is in use already. */
export type InPlace = <T>(caller: Caller, serve: () => Promise<T>) => Promise<T>;

/**
 * As many as an ingest process forwards at once. An environment that sends only slow requests, such as strong
 * reads that wait, gets half of them, and every other environment is served.
 */
const UNDER_WAY_MAX = 512;

export function createRequestPlaces(underWayMax = UNDER_WAY_MAX): InPlace {
  const places = createFairShares(underWayMax);
  return async (caller, serve) => {
    const share = shareOf(caller);
    if (!places.take(share, 1)) throw overloaded();
    try {
      return await serve();
    } finally {
      places.give(share, 1);
    }
  };
}

/**
 * The name under which a caller takes slots. Requests that need no secret key, with the publishable key or
 * the customer token of a page or to a path that names a workspace, take none from the share of that
 * workspace's secret keys.
 */
export function shareOf({ environment, kind }: Pick<Caller, 'environment' | 'kind'>): string {
  if (kind === undefined) return 'signed';
  return kind === 'secret' ? environment : `${kind} ${environment}`;
}

function overloaded(): Rejected {
  return new Rejected('overloaded', 'Too many of your requests are in progress. Retry the request.');
}
