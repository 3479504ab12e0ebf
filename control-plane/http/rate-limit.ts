import type { Context } from 'koa';
import type { Clock } from '../../infra/ports/clock.ts';
import { Rejected } from '../../schemas/failures.ts';
import type { Caller } from './request-context.ts';
import { createTokenBuckets, type RateLimit } from './token-buckets.ts';

export interface RateLimits {
  /** Per secret key; absent: no limit. */
  secret?: RateLimit | undefined;
  /** Per publishable key. All visitors of a site share one. */
  publishable?: RateLimit | undefined;
  /** Per customer, of all its customer tokens. */
  customer?: RateLimit | undefined;
}

/**
 * Takes one request of this key and returns 0, or takes nothing and returns the milliseconds until the next.
 */
export type TakeRequest = (caller: Pick<Caller, 'kind' | 'actor'>) => number;

/** Takes as many requests more for one that was as dear as these: the key's next requests wait for them. */
export type ChargeRequest = (caller: Pick<Caller, 'kind' | 'actor'>, requests: number) => void;

/** Browsers hold publishable keys and customer tokens, so these are always limited. */
const IN_BROWSERS: RateLimit = { perSecond: 50, burst: 200 };

/** Of this process. */
export function createRateLimit(
  clock: Clock,
  { secret, publishable = IN_BROWSERS, customer = IN_BROWSERS }: RateLimits,
): { takeRequest: TakeRequest; chargeRequest: ChargeRequest } {
  const buckets = {
    secret: secret && createTokenBuckets(secret, clock),
    publishable: createTokenBuckets(publishable, clock),
    customer: createTokenBuckets(customer, clock),
  };
  return {
    takeRequest: ({ kind, actor }) => (kind === undefined ? 0 : (buckets[kind]?.take(actor) ?? 0)),
    chargeRequest({ kind, actor }, requests) {
      if (kind !== undefined && requests > 0) buckets[kind]?.charge(actor, requests);
    },
  };
}

/** Throws Rejected `rate_limited`, with `Retry-After` in whole seconds, while the key has to wait. */
export function rejectTooMany(ctx: Context, waitMs: number): void {
  if (waitMs === 0) return;
  const seconds = Math.ceil(waitMs / 1000);
  ctx.set('Retry-After', String(seconds));
  throw new Rejected('rate_limited', `Too many requests with this API key or token. Retry in ${seconds} s.`);
}
