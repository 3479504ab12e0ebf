import { isIP } from 'node:net';
import {
  isLoopbackHost,
  isLoopbackName,
  LOOPBACK_ADDRESSES,
  mayConnectTo,
  type PrivateTargets,
} from '../../infra/platform/private-targets.ts';
import { AttemptFailed } from './attempt-failed.ts';

/**
 * All addresses that a name has now, in the order to try them in. Rejects, or returns none, when it has none.
 * `ofMachine`: the machine's resolver is used, not the DNS alone.
 */
export type ResolveName = (name: string, options: { ofMachine: boolean }) => Promise<string[]>;

export interface Guard {
  resolve: ResolveName;
  privateTargets: PrivateTargets;
}

/**
 * The addresses to which an attempt may connect. Each is checked, and the attempt connects to exactly these
 * addresses: a second resolution of the name could return an address that was not checked. One forbidden
 * address rejects them all. The host of a URL may be an address in any spelling: URL parsing normalises it,
 * and no resolver is used.
 *
 * Throws AttemptFailed: `url_not_allowed`, `name_not_resolved`, `address_not_public`.
 */
export async function checkedAddresses(url: URL, guard: Guard): Promise<readonly string[]> {
  const { privateTargets } = guard;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!isSentTo(url, isLoopbackHost(host), privateTargets)) throw new AttemptFailed('url_not_allowed');
  const addresses = isIP(host) === 0 ? await addressesOf(host, guard) : [host];
  // A name of the DNS leads to loopback only where everything private is allowed.
  // mutant: any-name-leads-to-loopback
  const targets = privateTargets === 'loopback' && !isLoopbackHost(host) ? 'none' : privateTargets;
  // mutant: first-address-checked-alone, names-checked-and-literals-not
  if (addresses.every((address) => mayConnectTo(address, targets))) return addresses;
  throw new AttemptFailed('address_not_public');
}

/** As at its registration; since then the server may have been restarted with stricter settings. */
function isSentTo(url: URL, toLoopback: boolean, targets: PrivateTargets): boolean {
  const { protocol, username, password } = url;
  const isHttpTaken = targets === 'all' || (targets === 'loopback' && toLoopback);
  return (
    (protocol === 'https:' || (isHttpTaken && protocol === 'http:')) && username === '' && password === ''
  );
}

async function addressesOf(name: string, { resolve, privateTargets }: Guard): Promise<readonly string[]> {
  if (privateTargets === 'loopback' && isLoopbackName(name)) return LOOPBACK_ADDRESSES;
  const addresses = await resolve(name, { ofMachine: privateTargets === 'all' }).catch((cause: unknown) => {
    throw new AttemptFailed('name_not_resolved', { cause });
  });
  if (addresses.length === 0) throw new AttemptFailed('name_not_resolved');
  return addresses;
}
