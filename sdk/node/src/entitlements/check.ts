import { ApiError } from '../client/api-error.ts';
import type { Client } from '../client/client.ts';
import type { EntitlementDecision } from '../generated/schemas.ts';

/** What is decided when the server does not respond. `last_known` is `closed` where nothing is known. */
export type FallbackPolicy = 'open' | 'closed' | 'last_known';

export interface EntitlementsOptions {
  client: Pick<Client, 'entitlements'>;
  /** For each feature by its key. Default: `closed`. */
  fallback?: FallbackPolicy | Readonly<Record<string, FallbackPolicy>>;
  /** How long a decision is waited for. Default 1,000. */
  timeoutMs?: number;
  /** Of decisions that are kept for `last_known`. Default 10,000. */
  knownMax?: number;
}

/** A decision of the server, or what the policy makes of the want of one. */
export interface Decision extends EntitlementDecision {
  source: 'server' | 'fallback';
}

export interface Check {
  /** The customer's id, or your own `externalId`. */
  customerId: string;
  featureKey: string;
  /** The amount that is wanted. */
  requested?: number;
}

export interface Entitlements {
  /** Never rejects for want of a response: `source` says what decided. Rejects with other `ApiError`s. */
  check(check: Check): Promise<Decision>;
}

export function createEntitlements(options: EntitlementsOptions): Entitlements {
  const { client, timeoutMs = 1_000, knownMax = 10_000 } = options;
  /** The oldest first. */
  const known = new Map<string, EntitlementDecision>();

  return {
    async check({ customerId, featureKey, requested }) {
      const name = JSON.stringify([customerId, featureKey]);
      const amount = requested === undefined ? {} : { requested: String(requested) };
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const decision = await client.entitlements.check({ customerId, featureKey, ...amount }, { signal });
        known.delete(name);
        known.set(name, decision);
        if (known.size > knownMax) known.delete(known.keys().next().value ?? '');
        return { ...decision, source: 'server' };
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        const policy = policyOf(options.fallback, featureKey);
        const last = policy === 'last_known' ? known.get(name) : undefined;
        return { ...(last ?? decided({ customerId, featureKey }, policy === 'open')), source: 'fallback' };
      }
    },
  };
}

function policyOf(fallback: EntitlementsOptions['fallback'], featureKey: string): FallbackPolicy {
  return (typeof fallback === 'object' ? fallback[featureKey] : fallback) ?? 'closed';
}

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  const { status, code } = error;
  return status === undefined || status === 429 || status >= 500 || code === 'unexpected_response';
}

function decided(of: { customerId: string; featureKey: string }, allowed: boolean): EntitlementDecision {
  const policy = allowed ? 'open' : 'closed';
  const reason = `The server did not respond; the fallback of this feature is ${policy}.`;
  return { ...of, allowed, reason, reasonCode: allowed ? 'granted' : 'feature_not_included' };
}
