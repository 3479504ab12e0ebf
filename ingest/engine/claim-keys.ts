import type { Claim, ClaimBatch, IdempotencyStore } from '../../infra/ports/idempotency-store.ts';

/**
 * Claims the keys of a request and makes of it what `make` says. When that fails the keys are given back:
 * what nobody commits would be acknowledged to a retry, and the next commit would be out of order.
 */
export function claimKeys<Made>(
  store: IdempotencyStore,
  batch: ClaimBatch,
  make: (claim: Claim) => Made,
): Made {
  const claim = store.claim(batch) as Claim; // the embedded store returns at once
  try {
    return make(claim);
  } catch (error) {
    void store.release([claim]); // at once as well; and nothing was claimed since
    throw error;
  }
}
