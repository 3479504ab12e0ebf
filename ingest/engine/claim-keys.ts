import type { Claim, ClaimBatch, IdempotencyStore } from '../../infra/ports/idempotency-store.ts';

/**
 * Claims the keys of a request and returns what `make` makes of the claim. When `make` fails the keys are
 * released: a retry would otherwise get `duplicate` for events that are never committed, and the next commit
 * would be out of order.
 */
export function claimKeys<Made>(
  store: IdempotencyStore,
  batch: ClaimBatch,
  make: (claim: Claim) => Made,
): Made {
  const claim = store.claim(batch, 'later') as Claim; // the embedded store returns at once
  try {
    return make(claim);
  } catch (error) {
    // mutant: claim-kept-without-a-write
    void store.release([claim]); // at once as well; and nothing was claimed since
    throw error;
  }
}
