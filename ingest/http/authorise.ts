import type { KeyCache, StoredKey } from '../../domain/api-key-cache.ts';
import { looksLikeCustomerToken } from '../../domain/rules/customer-token.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { presentedKey } from '../../schemas/http/presented-key.ts';

/**
 * Authenticates the sender of usage: a secret key with the scope `usage:write`. Order of the checks: the key
 * (401), its kind and scope (403). Returns at once for a key used lately. Throws Transient.
 */
export type AuthoriseUsage = (exchange: Exchange) => StoredKey | Rejection | Promise<StoredKey | Rejection>;

/** Authorization headers whose key is kept: to read one and hash its key costs half a microsecond. */
const READ_MAX = 1_000;

export function createAuthoriseUsage(keys: KeyCache): AuthoriseUsage {
  /** Of keys that were good: each is still authenticated every time. */
  const keyOfHeader = new Map<string, string>();

  function remember(authorization: string, text: string): void {
    if (keyOfHeader.size >= READ_MAX) keyOfHeader.clear();
    keyOfHeader.set(authorization, text);
  }

  return ({ headers }) => {
    const authorization = headers.get('authorization');
    const header = headers.get('x-api-key');
    const isAlone = authorization !== undefined && header === undefined;
    const read = isAlone ? keyOfHeader.get(authorization) : undefined;
    const text = read ?? presentedKey(authorization, header);
    if (typeof text !== 'string') return text;
    if (looksLikeCustomerToken(text)) return CUSTOMER_TOKEN;
    const found = keys.authenticate(text);
    if (found instanceof Promise) return found.then(checkScope);
    if (isAlone && read === undefined && !('code' in found)) remember(authorization, text);
    return checkScope(found);
  };
}

const SCOPE = 'usage:write';

/** Whether it is genuine makes no difference here. */
const CUSTOMER_TOKEN: Rejection = {
  code: 'customer_token_not_allowed',
  message: 'A customer token may only read. Send usage with a secret key, from your server.',
};

function checkScope(found: StoredKey | Rejection): StoredKey | Rejection {
  if ('code' in found) return found;
  if (found.kind === 'publishable') {
    return {
      code: 'publishable_key_not_allowed',
      message: 'A publishable key may only post funnel events and read the pricing.',
    };
  }
  if (found.scopes.includes(SCOPE) || found.scopes.includes('*')) return found;
  return { code: 'insufficient_scope', message: `This operation needs the scope ${SCOPE}.` };
}
