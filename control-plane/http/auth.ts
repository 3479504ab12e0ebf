import type { Context } from 'koa';
import type { KeyCache, StoredKey } from '../../domain/api-key-cache.ts';
import type { FirstCallStamp } from '../../domain/first-call-stamp.ts';
import type { LastUsedStamp } from '../../domain/last-used-stamp.ts';
import { looksLikeCustomerToken } from '../../domain/rules/customer-token.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { Rejected } from '../../schemas/failures.ts';
import { presentedKey } from '../../schemas/http/presented-key.ts';
import type { Route } from '../../schemas/route.ts';
import { type CustomerTokenDeps, createTokenAuth } from './customer-token-auth.ts';
import type { Caller } from './request-context.ts';
import { checkScope, type Requested } from './requested-access.ts';

export interface AuthDeps extends CustomerTokenDeps {
  keys: KeyCache;
  firstCalls: FirstCallStamp;
  lastUsed: LastUsedStamp;
}

/**
 * Throws Rejected: first for an unknown caller (401), then for a missing permission (403). Synchronous for a
 * key that was used recently; throws Transient while another key cannot be read.
 */
export type Authorise = (ctx: Context, requested: Requested) => Caller | Promise<Caller>;

export function createAuthorise({ keys, firstCalls, lastUsed, ...deps }: AuthDeps): Authorise {
  const { nowMs } = deps;
  const authoriseToken = createTokenAuth(deps);

  function authorised(found: StoredKey | Rejection, access: Route['access']): Caller {
    if ('code' in found) throw new Rejected(found.code, found.message);
    firstCalls.saw(found.environment);
    lastUsed.saw(found.id, nowMs());
    checkAccess(found, access);
    return { environment: found.environment, actor: found.id, scopes: found.scopes, kind: found.kind };
  }

  return (ctx, requested) => {
    const { access } = requested.route;
    if (access === 'signature') return signedCaller(requested.params);
    const text = keyTextOf(ctx, access);
    if (looksLikeCustomerToken(text)) return authoriseToken(ctx, text, requested);
    // mutant: unknown-key-repeated
    const found = keys.authenticate(text);
    return found instanceof Promise
      ? found.then((key) => authorised(key, access))
      : authorised(found, access);
  };
}

function keyTextOf(ctx: Context, access: Route['access']): string {
  const { authorization, 'x-api-key': header } = ctx.headers;
  const inQuery = access === 'publishable' ? keyInQuery(ctx) : undefined;
  const text = presentedKey(authorization || undefined, header ? String(header) : inQuery || undefined);
  if (typeof text !== 'string') throw new Rejected(text.code, text.message);
  if (inQuery && inQuery !== text) {
    throw new Rejected(
      'unauthenticated',
      'The `key` parameter and a header have different API keys. Send one of them.',
    );
  }
  return text;
}

/** The environment may not exist: that is unknown until the operation has verified the signature. */
function signedCaller({ workspaceId = '', mode = '' }: Record<string, string>): Caller {
  return { environment: `${workspaceId}:${mode}`, actor: 'processor', scopes: [] };
}

/** For a beacon, which cannot set headers. Throws Rejected for other credentials: logs show addresses. */
function keyInQuery(ctx: Context): string | undefined {
  const text = new URLSearchParams(ctx.querystring).get('key');
  if (text !== null && looksLikeCustomerToken(text)) {
    throw new Rejected('unauthenticated', 'Send a customer token in the Authorization header, not in a URL.');
  }
  if (text === null || !text.startsWith('sk_')) return text ?? undefined;
  throw new Rejected(
    'unauthenticated',
    'A secret key in a URL can leak. Revoke it, and send a publishable key here.',
  );
}

function checkAccess({ kind, scopes }: StoredKey, access: Route['access']): void {
  if (access === 'publishable') return;
  if (kind === 'publishable') {
    throw new Rejected(
      'publishable_key_not_allowed',
      'A publishable key may only post funnel events and read the pricing.',
    );
  }
  checkScope(scopes, access);
}
