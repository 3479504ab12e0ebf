import type { KeyCache } from '../../domain/api-key-cache.ts';
import { Rejected } from '../../schemas/failures.ts';
import { FEED_CUSTOMERS_MAX } from '../../schemas/resources/entitlement-feed.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import type { EntitlementFeed } from '../entitlements/feed/entitlement-feed.ts';
import { isStillGood } from '../http/key-still-good.ts';
import { RawResponse } from '../http/raw-response.ts';
import type { Handlers } from '../http/request-context.ts';

export interface EntitlementFeedHandlerDeps {
  feed: EntitlementFeed;
  keys: KeyCache;
}

export function createEntitlementFeedHandlers({
  feed,
  keys,
}: EntitlementFeedHandlerDeps): Pick<Handlers, 'entitlements.feed'> {
  return {
    'entitlements.feed': (context, { query: { customerIds, forSeconds, heartbeatSeconds } }) => {
      const names = customerIds === undefined ? undefined : namesIn(customerIds);
      const lastEventId = context.headers['last-event-id'];
      const body = feed.open({
        environment: context.environment,
        names,
        lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
        heartbeatMs: heartbeatSeconds * 1_000,
        forMs: forSeconds * 1_000,
        isAllowed: () => isStillGood(keys, context),
      });
      return new RawResponse('text/event-stream', body);
    },
  };
}

/** Each once. Throws Rejected. */
function namesIn(customerIds: string): string[] {
  const names = [...new Set(customerIds.split(',').filter((name) => name !== ''))].map(decoded);
  if (names.length > FEED_CUSTOMERS_MAX) throw invalid(`names at most ${FEED_CUSTOMERS_MAX} customers`);
  if (names.some((name) => name === '' || name.length > USAGE_LIMITS.idCharsMax))
    throw invalid(`holds a name of more than ${USAGE_LIMITS.idCharsMax} characters, or an empty one`);
  return names;
}

/** A name may contain a comma. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a percent sign of its own
  }
}

function invalid(reason: string): Rejected {
  return new Rejected('invalid_request', `\`customerIds\` ${reason}.`, { param: 'customerIds' });
}
