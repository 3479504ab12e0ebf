import { lookup, Resolver } from 'node:dns/promises';
import type { ResolveName } from './endpoint-guard.ts';

const QUERY_TIMEOUT_MS = 1_500;
const QUERY_TRIES = 2;

/**
 * Queries only the DNS. Unlike `lookup` this needs no thread of the libuv pool (4, which files use too), so a
 * name whose servers hang delays nothing else. Where private addresses are allowed, it uses the machine's
 * resolver, which also knows the hosts file and the names of a local network.
 */
export function createResolveName(): ResolveName {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  return async (name, { ofMachine }) => {
    if (ofMachine) return (await lookup(name, { all: true })).map(({ address }) => address);
    const families = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return families.flatMap((response) => (response.status === 'fulfilled' ? response.value : []));
  };
}
