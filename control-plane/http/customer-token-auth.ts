import type { Context } from 'koa';
import type { Pool } from 'pg';
import type { KeyCache } from '../../domain/api-key-cache.ts';
import { type CustomerTokenClaims, readCustomerToken } from '../../domain/rules/customer-token.ts';
import { throwTransient } from '../../infra/postgres/unavailable.ts';
import { Rejected } from '../../schemas/failures.ts';
import { findTokenCustomer, type TokenCustomer } from '../store/token-customer.ts';
import { type TakeRequest, takeOrReject } from './rate-limit.ts';
import type { Caller } from './request-context.ts';
import { checkScope, type Requested } from './requested-access.ts';

export interface CustomerTokenDeps {
  customerTokenKey: Buffer;
  /** The keys that create tokens, by id. */
  tokenIssuers: KeyCache;
  pool: Pool;
  takeRequest: TakeRequest;
  nowMs: () => number;
}

/** In place of a customer's id: the customer of the token. */
const OWN_CUSTOMER = 'me';

/**
 * Authorises the bearer of a customer token. Throws Rejected for a token that is not genuine or has ended
 * (401), for too many requests (429), and then for an operation or a customer that is none of its business
 * (403), whether or not that customer exists; throws Transient.
 */
export function createTokenAuth(deps: CustomerTokenDeps) {
  const { customerTokenKey, tokenIssuers, pool, takeRequest, nowMs } = deps;
  return async (ctx: Context, text: string, requested: Requested): Promise<Caller> => {
    const claims = readCustomerToken(text, customerTokenKey);
    if (!claims) throw new Rejected('unauthenticated', UNKNOWN);
    if (nowMs() >= claims.expiresAtMs) throw new Rejected('key_expired', EXPIRED);
    const { environment, customerId } = claims;
    // Before any store is read: a browser may send as much as it likes.
    takeOrReject(ctx, takeRequest, { kind: 'customer', actor: customerId });
    const scopes = await scopesOf(claims, tokenIssuers);
    const customer = await findTokenCustomer(pool, environment, customerId).catch(throwTransient);
    if (customer?.status !== 'active') throw new Rejected('key_revoked', ENDED);
    checkRequested(requested, customer);
    checkScope(scopes, requested.route.access);
    return { environment, actor: customerId, scopes, kind: 'customer', customerId };
  };
}

/** Those of the key that created the token, while that key is valid. */
async function scopesOf(claims: CustomerTokenClaims, tokenIssuers: KeyCache): Promise<readonly string[]> {
  const issuer = await tokenIssuers.authenticate(claims.keyId);
  // mutant: token-issuer-unchecked
  if ('code' in issuer || issuer.environment !== claims.environment) {
    throw new Rejected('key_revoked', ENDED);
  }
  return issuer.scopes;
}

function checkRequested({ route, params }: Requested, { id, externalId }: TokenCustomer): void {
  // mutant: token-for-any-operation
  if (!route.customerToken) throw new Rejected('customer_token_not_allowed', NOT_THIS_OPERATION);
  const { customerId: named } = params;
  // mutant: token-of-any-customer
  if (named === undefined || [OWN_CUSTOMER, id, externalId].includes(named)) return;
  throw new Rejected('customer_token_not_allowed', NOT_THIS_CUSTOMER, { param: 'customerId' });
}

const UNKNOWN = 'This customer token is unknown. Check that it is complete and was created by this server.';
const EXPIRED = 'This customer token has expired. Create a new one, on your server.';
const ENDED =
  'The customer of this token is archived, or the API key that created it is no longer valid. ' +
  'Create a new token, on your server.';
const NOT_THIS_OPERATION =
  'A customer token may only read the entitlements, usage counters, cost and pricing of its customer.';
const NOT_THIS_CUSTOMER = `A customer token may only read its own customer: \`${OWN_CUSTOMER}\`.`;
