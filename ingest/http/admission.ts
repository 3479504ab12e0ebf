import { createFairShares, type FairShares } from '../../infra/platform/fair-shares.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';

/**
 * Bounds the bytes of requests in flight, from the first body byte to the response: memory runs out first,
 * not the number of requests. Beyond the bound, or beyond its environment's share of it, a request is
 * rejected with 503 `overloaded` at once and no more of its body is read: no queue can grow, and an
 * environment that stalls leaves the others their room.
 */
export type Admission = FairShares;

export function createAdmission(bytesMax: number): Admission {
  return createFairShares(bytesMax, REQUEST_BYTES_MAX);
}

/** A body and what it inflates to. */
const REQUEST_BYTES_MAX = 2 * USAGE_LIMITS.bodyBytesMax;

export const OVERLOADED: Rejection = {
  code: 'overloaded',
  message: 'Too many bytes are in flight. Nothing of this request was stored. Retry in a second.',
};
