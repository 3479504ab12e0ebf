import { createFairShares } from '../../infra/platform/fair-shares.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';

/** A whole body, whose bytes are counted until `release`. */
export interface BufferedBody {
  body: Buffer;
  release(): void;
}

export type BodyOutcome = BufferedBody | Rejection | 'aborted';

/**
 * Buffers the body of a request for the control plane before it takes one of its places, so that a client
 * which sends slowly holds none. `environment`: of the secret key that sends it; undefined for all others.
 */
export interface BodyBuffer {
  read(exchange: Exchange, environment: string | undefined): Promise<BodyOutcome>;
  /** Bytes that bodies hold, those of the two kinds together. */
  heldBytes(): number;
}

export interface BodyBufferLimits {
  /** Of a body. One more byte is taken, so that the control plane sees that it is too large. */
  bodyBytesMax: number;
  /** Of all bodies under secret keys, shared between their environments. */
  keyedBytesMax: number;
  /**
   * From the request's head to the last byte of its body. Below the front's own, which closes without a
   * response.
   */
  keyedMs: number;
  /** Of bodies that need no secret key: to the processor's path, of the funnel, without a key. */
  strangersBytesMax: number;
  strangersMs: number;
}

const LIMITS: BodyBufferLimits = {
  bodyBytesMax: USAGE_LIMITS.bodyBytesMax,
  keyedBytesMax: 32 * 1024 * 1024,
  keyedMs: 25_000,
  strangersBytesMax: 8 * 1024 * 1024,
  strangersMs: 5_000,
};

/** Where the bytes of one body are counted. */
interface Reservation {
  take(bytes: number): boolean;
  give(bytes: number): void;
  /** It is complete: from now on it is not cut off for another. */
  close(): void;
}

export function createBodyBuffer(limits: BodyBufferLimits = LIMITS): BodyBuffer {
  const keyed = createFairShares(limits.keyedBytesMax, 2 * limits.bodyBytesMax);
  const strangers = createStrangersBudget(limits.strangersBytesMax);

  function reservationOf(environment: string | undefined, giveUp: () => void): Reservation {
    if (environment === undefined) return strangers.open(giveUp);
    return {
      take: (bytes) => keyed.take(environment, bytes),
      give: (bytes) => keyed.give(environment, bytes),
      close: () => undefined,
    };
  }

  function read(exchange: Exchange, environment: string | undefined): Promise<BodyOutcome> {
    return new Promise((resolve) => {
      const timeoutMs = environment === undefined ? limits.strangersMs : limits.keyedMs;
      const timer = setTimeout(() => settle(TOO_SLOW), timeoutMs);
      const reservation = reservationOf(environment, () => settle(OVERLOADED));
      const body = createGrowingBody(reservation, limits.bodyBytesMax + 1);
      let isSettled = false;
      const settle = (outcome: BodyOutcome) => {
        if (isSettled) return;
        isSettled = true;
        clearTimeout(timer);
        reservation.close();
        if (outcome === 'aborted' || 'code' in outcome) body.release();
        resolve(outcome);
      };
      const finish = () => settle({ body: body.bytes(), release: body.release });
      exchange.onAborted(() => settle('aborted'));
      exchange.readBody((chunk) => {
        if (isSettled) return;
        if (!body.add(chunk)) settle(OVERLOADED);
        else if (body.isFull()) finish();
      }, finish);
    });
  }

  return { read, heldBytes: () => keyed.held + strangers.heldBytes() };
}

const OVERLOADED: Rejection = {
  code: 'overloaded',
  message: 'Too many request bodies are arriving. Retry in a second.',
};
export const TOO_SLOW: Rejection = {
  code: 'invalid_request',
  message: 'The body took too long to arrive. Send it again, at once.',
};

/**
 * Requests without a valid key have no tenant, so there are no shares: when their budget is full, the client
 * that has been sending longest is cut off. A whole body arrives quickly; one that is dribbled is always the
 * oldest.
 */
function createStrangersBudget(bytesMax: number) {
  /** Those that arrive, in the order in which they began to hold something. */
  const arriving = new Map<Reservation, () => void>();
  let held = 0;

  function freeBytes(bytes: number, but: Reservation): boolean {
    for (const [reservation, giveUp] of arriving) {
      if (held + bytes <= bytesMax) break;
      if (reservation !== but) giveUp();
    }
    return held + bytes <= bytesMax;
  }

  return {
    heldBytes: () => held,
    open(giveUp: () => void): Reservation {
      const reservation: Reservation = {
        take(bytes) {
          if (held + bytes > bytesMax && !freeBytes(bytes, reservation)) return false;
          if (!arriving.has(reservation)) arriving.set(reservation, giveUp);
          held += bytes;
          return true;
        },
        give(bytes) {
          held -= bytes;
        },
        close: () => void arriving.delete(reservation),
      };
      return reservation;
    },
  };
}

/** Its memory is what is counted, and grows with the bytes that arrive: an announced length costs nothing. */
function createGrowingBody(reservation: Reservation, bytesMax: number) {
  let memory: Buffer = NO_MEMORY;
  let length = 0;

  function grow(bytes: number): boolean {
    const size = Math.min(Math.max(bytes, 2 * memory.length), bytesMax);
    if (!reservation.take(size - memory.length)) return false;
    const larger = Buffer.allocUnsafeSlow(size);
    memory.copy(larger, 0, 0, length);
    memory = larger;
    return true;
  }

  return {
    /** False: there is no budget for it. What exceeds the limit is left out. */
    add(chunk: Buffer): boolean {
      const end = Math.min(length + chunk.length, bytesMax);
      if (end > memory.length && !grow(end)) return false;
      chunk.copy(memory, length, 0, end - length);
      length = end;
      return true;
    },
    isFull: () => length === bytesMax,
    bytes: () => memory.subarray(0, length),
    release(): void {
      reservation.give(memory.length);
      memory = NO_MEMORY;
    },
  };
}

const NO_MEMORY = Buffer.alloc(0);
