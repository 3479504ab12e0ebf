import type { Refusal } from '../schemas/error-codes.ts';

/**
 * Bounds the bytes of requests in flight, from the first body byte to the answer: memory is what runs out,
 * not the number of requests. Beyond the bound a request is refused at once, so that no queue can grow.
 */
export interface Admission {
  /** False: answer 503 `overloaded` and take no more of this body. */
  take(bytes: number): boolean;
  give(bytes: number): void;
  readonly inFlightBytes: number;
}

export function createAdmission(bytesMax: number): Admission {
  let inFlightBytes = 0;
  return {
    take(bytes) {
      if (inFlightBytes + bytes > bytesMax) return false;
      inFlightBytes += bytes;
      return true;
    },
    give(bytes) {
      inFlightBytes -= bytes;
    },
    get inFlightBytes() {
      return inFlightBytes;
    },
  };
}

export const OVERLOADED: Refusal = {
  code: 'overloaded',
  message: 'Too much is in flight; nothing of this request was stored. Send it again in a moment.',
};
