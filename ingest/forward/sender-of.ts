import type { KeyCache, StoredKey } from '../../domain/api-key-cache.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { presentedKey } from '../../schemas/http/presented-key.ts';

/**
 * The environment of the secret key that sends a request; undefined without one. At once for a key that was
 * used lately; never rejects.
 */
export type SenderOf = (exchange: Exchange) => string | undefined | Promise<string | undefined>;

/**
 * Which tenant's share of the requests to the control plane a request takes. Nothing is rejected here: the
 * control plane does that, in its order. A publishable key is readable on a public page, so it has no share;
 * nor has a key that cannot be verified at this time.
 */
export function createSenderOf(keys: () => KeyCache | undefined): SenderOf {
  return ({ headers }) => {
    const text = presentedKey(headers.get('authorization'), headers.get('x-api-key'));
    const known = keys();
    return typeof text === 'string' && known ? environmentOf(text, known) : undefined;
  };
}

function environmentOf(text: string, keys: KeyCache): ReturnType<SenderOf> {
  try {
    const found = keys.authenticate(text);
    return found instanceof Promise ? found.then(ofSecret, () => undefined) : ofSecret(found);
  } catch {
    return undefined;
  }
}

function ofSecret(found: StoredKey | Rejection): string | undefined {
  return 'code' in found || found.kind === 'publishable' ? undefined : found.environment;
}
