import type { KeyCache, StoredKey } from '../../domain/api-key-cache.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { presentedKey } from '../../schemas/http/presented-key.ts';

/** The environment of the secret key that sends a request; undefined for anybody else. */
export type SenderOf = (exchange: Exchange) => string | undefined | Promise<string | undefined>;

/**
 * Whose share of the way to the control plane a request takes. Nothing is refused here: that is for the
 * control plane, in its order. A publishable key stands on a page for all to read; a key that cannot be
 * looked up just now is nobody's.
 */
export function createSenderOf(keys: () => KeyCache | undefined): SenderOf {
  return ({ headers }) => {
    const text = presentedKey(headers.get('authorization'), headers.get('x-api-key'));
    const known = keys();
    return typeof text === 'string' && known ? environmentOf(text, known) : undefined;
  };
}

async function environmentOf(text: string, keys: KeyCache): Promise<string | undefined> {
  try {
    return ofSecret(await keys.authenticate(text));
  } catch {
    return undefined;
  }
}

function ofSecret(found: StoredKey | Rejection): string | undefined {
  return 'code' in found || found.kind === 'publishable' ? undefined : found.environment;
}
