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
export type TakeRequest = ((caller: RateLimited) => number) & {
  /** What a response says of the limit; undefined: there is none. */
  fields(caller: RateLimited): RateLimitFields | undefined;
};

type RateLimited = Pick<Caller, 'kind' | 'actor'>;

/**
 * Of the IETF draft (draft-ietf-httpapi-ratelimit-headers): so many requests (`q`) in so many seconds (`w`);
 * how many of them are left (`r`), and in how many seconds all of them are there again (`t`).
 */
export interface RateLimitFields {
  'RateLimit-Policy': string;
  RateLimit: string;
}

/** Takes as many requests more for one that was as dear as these: the key's next requests wait for them. */
export type ChargeRequest = (caller: RateLimited, requests: number) => void;

/** Browsers hold publishable keys and customer tokens, so these are always limited. */
const IN_BROWSERS: RateLimit = { perSecond: 50, burst: 200 };

/** Of this process. */
export function createRateLimit(
  clock: Clock,
  { secret, publishable = IN_BROWSERS, customer = IN_BROWSERS }: RateLimits,
): { takeRequest: TakeRequest; chargeRequest: ChargeRequest } {
  const limits = { secret, publishable, customer };
  const buckets = {
    secret: secret && createTokenBuckets(secret, clock),
    publishable: createTokenBuckets(publishable, clock),
    customer: createTokenBuckets(customer, clock),
  };
  const policies = Object.fromEntries(
    Object.entries(limits).map(([kind, limit]) => [kind, limit && policyOf(kind, limit)]),
  );

  function fields({ kind, actor }: RateLimited): RateLimitFields | undefined {
    const policy = kind && policies[kind];
    const state = kind && buckets[kind]?.state(actor);
    if (policy === undefined || state === undefined) return undefined;
    const { tokens, fullInMs } = state;
    return { 'RateLimit-Policy': policy, RateLimit: `"${kind}";r=${tokens};t=${Math.ceil(fullInMs / 1000)}` };
  }

  const take = ({ kind, actor }: RateLimited) => (kind === undefined ? 0 : (buckets[kind]?.take(actor) ?? 0));
  return {
    takeRequest: Object.assign(take, { fields }),
    chargeRequest({ kind, actor }, requests) {
      if (kind !== undefined && requests > 0) buckets[kind]?.charge(actor, requests);
    },
  };
}

function policyOf(kind: string, { perSecond, burst }: RateLimit): string {
  return `"${kind}";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`;
}

/**
 * Takes a request of this caller, and says in the response what is left. Throws Rejected `rate_limited`, with
 * `Retry-After` in whole seconds, while it has to wait.
 */
export function takeOrReject(ctx: Context, takeRequest: TakeRequest, caller: RateLimited): void {
  const waitMs = takeRequest(caller);
  const fields = takeRequest.fields(caller);
  if (fields) ctx.set({ ...fields });
  if (waitMs === 0) return;
  const seconds = Math.ceil(waitMs / 1000);
  ctx.set('Retry-After', String(seconds));
  throw new Rejected('rate_limited', `Too many requests with this API key or token. Retry in ${seconds} s.`);
}
