import type { KeyCache } from '../../domain/api-key-cache.ts';
import { presentedKey } from '../../schemas/http/presented-key.ts';
import type { RequestContext } from './request-context.ts';

/** The key of the request, whose response goes on, is neither revoked nor expired by now. */
export async function isStillGood(keys: KeyCache, { headers }: RequestContext): Promise<boolean> {
  const { authorization, 'x-api-key': header } = headers;
  const text = presentedKey(authorization || undefined, header ? String(header) : undefined);
  return typeof text === 'string' && !('code' in (await keys.authenticate(text)));
}
