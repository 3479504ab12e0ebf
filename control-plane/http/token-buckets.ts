import type { Clock } from '../../infra/ports/clock.ts';

export interface RateLimit {
  perSecond: number;
  /** The number of requests at once after a pause, at least 1. */
  burst: number;
}

export interface TokenBuckets {
  /** Takes a token of this key and returns 0, or returns the milliseconds until its next token. */
  take(key: string): number;
  /** Takes tokens that need not be there, down to `burst` below zero: `take` then says a longer wait. */
  charge(key: string, tokens: number): void;
  /** The whole tokens of this key, at least 0, and the milliseconds until it has all of them. */
  state(key: string): { tokens: number; fullInMs: number };
}

/** Beyond it the least recently used key is dropped: it would begin with a full bucket again. */
const KEYS_MAX = 10_000;
/** Absorbs the rounding of doubles: a caller that waited as long as requested is served. */
const A_TOKEN = 1 - 1e-9;

/** One bucket per key, full at first. A rejected request takes nothing. */
export function createTokenBuckets(
  { perSecond, burst }: RateLimit,
  clock: Pick<Clock, 'monotonicMs'>,
  keysMax = KEYS_MAX,
): TokenBuckets {
  /** In the order of their last request. */
  const buckets = new Map<string, { tokens: number; atMs: number }>();

  function filledAt(key: string, nowMs: number): number {
    const { tokens, atMs } = buckets.get(key) ?? { tokens: burst, atMs: nowMs };
    return Math.min(burst, tokens + ((nowMs - atMs) / 1000) * perSecond);
  }

  function put(key: string, tokens: number, nowMs: number): void {
    buckets.delete(key);
    buckets.set(key, { tokens, atMs: nowMs });
    if (buckets.size > keysMax) buckets.delete(buckets.keys().next().value ?? key);
  }

  return {
    take(key) {
      const nowMs = clock.monotonicMs();
      const filled = filledAt(key, nowMs);
      const isThere = filled >= A_TOKEN;
      put(key, isThere ? Math.max(0, filled - 1) : filled, nowMs);
      return isThere ? 0 : ((1 - filled) / perSecond) * 1000;
    },
    charge(key, tokens) {
      const nowMs = clock.monotonicMs();
      put(key, Math.max(-burst, filledAt(key, nowMs) - tokens), nowMs);
    },
    state(key) {
      const filled = filledAt(key, clock.monotonicMs());
      const tokens = Math.max(0, Math.floor(filled + 1 - A_TOKEN));
      return { tokens, fullInMs: ((burst - filled) / perSecond) * 1000 };
    },
  };
}
