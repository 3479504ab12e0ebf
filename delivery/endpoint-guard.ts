import { isIP } from 'node:net';
import { isPublicAddress } from '../infra/public-address.ts';
import { AttemptFailed } from './attempt-failed.ts';

/**
 * All addresses that a name has now, in the order to try them in. Rejects, or gives none, where it has
 * none.
 */
export type ResolveName = (name: string, options: { allowPrivate: boolean }) => Promise<string[]>;

export interface Guard {
  resolve: ResolveName;
  allowPrivate: boolean;
}

/**
 * The addresses to which an attempt may connect, each looked at, and connected to as it stands here:
 * whoever asked for the name once more could be told another address than the one that was checked. One
 * address that is not public refuses them all. The host of a url may be an address, in any spelling:
 * parsing has read it as the one that it is, and no resolver is ever asked.
 *
 * Throws AttemptFailed: `url_not_allowed`, `name_not_resolved`, `address_not_public`.
 */
export async function checkedAddresses(url: URL, { resolve, allowPrivate }: Guard): Promise<string[]> {
  if (!isSentTo(url, allowPrivate)) throw new AttemptFailed('url_not_allowed');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host) === 0 ? await addressesOf(host, { resolve, allowPrivate }) : [host];
  if (allowPrivate || addresses.every(isPublicAddress)) return addresses;
  throw new AttemptFailed('address_not_public');
}

/** As at its registration; since then the server may have been started anew, and more strictly. */
function isSentTo({ protocol, username, password }: URL, allowPrivate: boolean): boolean {
  const isTaken = protocol === 'https:' || (allowPrivate && protocol === 'http:');
  return isTaken && username === '' && password === '';
}

async function addressesOf(name: string, { resolve, allowPrivate }: Guard): Promise<string[]> {
  const addresses = await resolve(name, { allowPrivate }).catch((cause: unknown) => {
    throw new AttemptFailed('name_not_resolved', { cause });
  });
  if (addresses.length === 0) throw new AttemptFailed('name_not_resolved');
  return addresses;
}
