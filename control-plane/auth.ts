import type { Context } from 'koa';
import type { Pool } from 'pg';
import type { FirstCallStamp } from '../infra/first-call-stamp.ts';
import type { LastUsedStamp } from '../infra/last-used-stamp.ts';
import { hashApiKey } from '../infra/secrets.ts';
import { Rejected } from '../schemas/failures.ts';
import type { Route } from '../schemas/route.ts';
import { parseApiKey } from '../schemas/rules/api-key.ts';
import { KEY_REFUSALS } from '../schemas/rules/key-refusals.ts';
import { presentedKey } from '../schemas/rules/presented-key.ts';
import { EVERY_SCOPE } from '../schemas/scopes.ts';
import type { Caller } from './request-context.ts';
import { type ApiKey, findApiKey } from './store/find-api-key.ts';

export interface AuthDeps {
  pool: Pool;
  keyPepper: Buffer;
  nowMs: () => number;
  firstCalls: FirstCallStamp;
  lastUsed: LastUsedStamp;
}

/** Throws Rejected: first who it is (401), then what it may do (403). `params` are those of the path. */
export type Authorise = (
  ctx: Context,
  access: Route['access'],
  params: Record<string, string>,
) => Promise<Caller>;

/**
 * Keys are looked up for every request: one point read, and a revoked key is refused from the next request
 * on.
 */
export function createAuthorise(deps: AuthDeps): Authorise {
  const { pool, keyPepper, nowMs, firstCalls, lastUsed } = deps;

  async function authenticate(ctx: Context, access: Route['access']): Promise<ApiKey> {
    const inQuery = access === 'publishable' ? keyInQuery(ctx) : undefined;
    const apiKey = ctx.get('x-api-key') || inQuery;
    const text = presentedKey(ctx.get('authorization') || undefined, apiKey || undefined);
    if (typeof text !== 'string') throw new Rejected(text.code, text.message);
    if (inQuery && inQuery !== text) {
      throw new Rejected('unauthenticated', 'The address and a header carry different keys; send one.');
    }
    const key = parseApiKey(text) && (await findApiKey(pool, hashApiKey(text, keyPepper)));
    if (!key) throw refused('unknown');
    if (key.revokedAt) throw refused('revoked');
    if (key.expiresAt && key.expiresAt.getTime() <= nowMs()) throw refused('expired');
    return key;
  }

  return async (ctx, access, params) => {
    if (access === 'signature') return signedCaller(params);
    const key = await authenticate(ctx, access);
    firstCalls.saw(key.environment);
    lastUsed.saw(key.id, nowMs());
    checkAccess(key, access);
    return { environment: key.environment, actor: key.id, scopes: key.scopes, kind: key.kind };
  };
}

function refused(why: keyof typeof KEY_REFUSALS): Rejected {
  const { code, message } = KEY_REFUSALS[why];
  return new Rejected(code, message);
}

/** Of an environment that may not exist: nothing is known before the operation has verified the signature. */
function signedCaller({ workspaceId = '', mode = '' }: Record<string, string>): Caller {
  return { environment: `${workspaceId}:${mode}`, actor: 'processor', scopes: [] };
}

/** Of a beacon, which cannot set headers. Throws Rejected for a secret key: addresses end in logs. */
function keyInQuery(ctx: Context): string | undefined {
  const text = new URLSearchParams(ctx.querystring).get('key');
  if (text === null || !text.startsWith('sk_')) return text ?? undefined;
  throw new Rejected('unauthenticated', 'A secret key never belongs into an address: make a new one.');
}

function checkAccess({ kind, scopes }: ApiKey, access: Route['access']): void {
  if (access === 'publishable') return;
  if (kind === 'publishable') {
    throw new Rejected('publishable_key_not_allowed', 'A publishable key may only post funnel events.');
  }
  if (access === 'any_key' || scopes.includes(access) || scopes.includes(EVERY_SCOPE)) return;
  throw new Rejected('insufficient_scope', `This operation needs the scope ${access}.`);
}
