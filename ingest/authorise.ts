import type { Exchange } from '../infra/ports/http-front.ts';
import type { Refusal } from '../schemas/error-codes.ts';
import type { KeyCache, StoredKey } from './key-cache.ts';

/**
 * Who sends usage: a secret key with the scope `usage:write`. Order of the checks per contract, §1: the key
 * (401), its kind and scope (403). Answers at once for a key used lately. Throws Transient.
 */
export function authoriseUsage(
  exchange: Exchange,
  keys: KeyCache,
): StoredKey | Refusal | Promise<StoredKey | Refusal> {
  const text = keyText(exchange);
  if (typeof text !== 'string') return text;
  const found = keys.authenticate(text);
  return found instanceof Promise ? found.then(checkScope) : checkScope(found);
}

const SCOPE = 'usage:write';

function keyText({ headers }: Exchange): string | Refusal {
  const authorization = headers.get('authorization');
  const bearer = authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  const header = headers.get('x-api-key')?.trim();
  if (authorization !== undefined && bearer === undefined) {
    return unauthenticated('The Authorization header must read `Bearer <API key>`.');
  }
  if (bearer && header && bearer !== header) {
    return unauthenticated('Authorization and X-API-Key carry different keys; send one.');
  }
  return (
    bearer || header || unauthenticated('Send an API key: `Authorization: Bearer <API key>` or `X-API-Key`.')
  );
}

function checkScope(found: StoredKey | Refusal): StoredKey | Refusal {
  if ('code' in found) return found;
  if (found.kind === 'publishable') {
    return { code: 'publishable_key_not_allowed', message: 'A publishable key may only post funnel events.' };
  }
  if (found.scopes.includes(SCOPE) || found.scopes.includes('*')) return found;
  return { code: 'insufficient_scope', message: `This operation needs the scope ${SCOPE}.` };
}

function unauthenticated(message: string): Refusal {
  return { code: 'unauthenticated', message };
}
