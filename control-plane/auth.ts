import type { Context } from 'koa';
import type { Pool } from 'pg';
import type { FirstCallStamp } from '../infra/first-call-stamp.ts';
import { hashApiKey } from '../infra/secrets.ts';
import { Rejected } from '../schemas/failures.ts';
import type { Route } from '../schemas/route.ts';
import { parseApiKey } from '../schemas/rules/api-key.ts';
import { presentedKey } from '../schemas/rules/presented-key.ts';
import { EVERY_SCOPE } from '../schemas/scopes.ts';
import { type ApiKey, findApiKey } from './store/find-api-key.ts';

export interface AuthDeps {
  pool: Pool;
  keyPepper: Buffer;
  nowMs: () => number;
  firstCalls: FirstCallStamp;
}

/**
 * The environment of the key that asks. Throws Rejected: first who it is (401), then what it may do (403).
 */
export type Authorise = (ctx: Context, access: Route['access']) => Promise<string>;

/**
 * Keys are looked up for every request: one point read, and a revoked key is refused from the next request
 * on.
 */
export function createAuthorise({ pool, keyPepper, nowMs, firstCalls }: AuthDeps): Authorise {
  async function authenticate(ctx: Context): Promise<ApiKey> {
    const text = presentedKey(ctx.get('authorization') || undefined, ctx.get('x-api-key') || undefined);
    if (typeof text !== 'string') throw new Rejected(text.code, text.message);
    const key = parseApiKey(text) && (await findApiKey(pool, hashApiKey(text, keyPepper)));
    if (!key) throw new Rejected('unauthenticated', 'This API key is not known.');
    if (key.revokedAt) throw new Rejected('key_revoked', 'This API key was revoked; use its successor.');
    if (key.expiresAt && key.expiresAt.getTime() <= nowMs()) {
      throw new Rejected('key_expired', 'This API key has expired; make a new one.');
    }
    return key;
  }

  return async (ctx, access) => {
    const key = await authenticate(ctx);
    firstCalls.saw(key.environment);
    checkAccess(key, access);
    return key.environment;
  };
}

function checkAccess({ kind, scopes }: ApiKey, access: Route['access']): void {
  if (kind === 'publishable') {
    throw new Rejected('publishable_key_not_allowed', 'A publishable key may only post funnel events.');
  }
  if (access === 'any_key' || scopes.includes(access) || scopes.includes(EVERY_SCOPE)) return;
  throw new Rejected('insufficient_scope', `This operation needs the scope ${access}.`);
}
