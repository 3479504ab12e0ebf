import type { UsageRequest } from '../../infra/ports/engine.ts';

/**
 * The space of a request's idempotency keys, from which event ids are derived: that of the environment, or
 * the one for usage that the installation itself writes. A client's key is never one of ours, whatever it
 * sends. Neither may change: events would be counted again.
 */
export function keySpaceOf({ environment, isOwn }: UsageRequest): string {
  // mutant: own-keys-with-those-of-clients
  return isOwn ? `${environment}${OWN}` : environment;
}

/** No environment's name has a space in it. */
const OWN = ' own';
