import type { KeyCache, StoredKey } from '../../domain/api-key-cache.ts';
import { looksLikeCustomerToken } from '../../domain/rules/customer-token.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { presentedKey } from '../../schemas/http/presented-key.ts';

/**
 * Authenticates the sender of usage: a secret key with the scope `usage:write`. Order of the checks: the key
 * (401), its kind and scope (403). Returns at once for a key used lately. Throws Transient.
 */
export function authoriseUsage(
  exchange: Exchange,
  keys: KeyCache,
): StoredKey | Rejection | Promise<StoredKey | Rejection> {
  const { headers } = exchange;
  const text = presentedKey(headers.get('authorization'), headers.get('x-api-key'));
  if (typeof text !== 'string') return text;
  if (looksLikeCustomerToken(text)) return CUSTOMER_TOKEN;
  const found = keys.authenticate(text);
  return found instanceof Promise ? found.then(checkScope) : checkScope(found);
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
