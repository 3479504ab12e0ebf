import { createFairShares, type FairShares } from '../../infra/platform/fair-shares.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';

/**
 * Bounds the bytes of requests in flight, from the first body byte to the answer: memory is what runs out,
 * not the number of requests. Beyond the bound, or beyond its environment's share of it, a request is refused
 * with 503 `overloaded` at once and no more of its body is taken: no queue can grow, and an environment that
 * stalls leaves the others their room.
 */
export type Admission = FairShares;

export function createAdmission(bytesMax: number): Admission {
  return createFairShares(bytesMax, REQUEST_BYTES_MAX);
}

/** A body and what it inflates to. */
const REQUEST_BYTES_MAX = 2 * USAGE_LIMITS.bodyBytesMax;

export const OVERLOADED: Rejection = {
  code: 'overloaded',
  message: 'Too much is in flight; nothing of this request was stored. Send it again in a moment.',
};
