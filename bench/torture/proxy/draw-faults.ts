import type { Random } from '../../random.ts';
import type { Fault } from './tcp-proxy.ts';

export interface FaultDraw {
  random: Random;
  /** Faults in all; after them everything passes. */
  count: number;
  /** Share of the exchanges that get one. */
  share: number;
  /** Which exchanges may. Everything, by default. */
  among?: (request: Buffer) => boolean;
  /** Each as likely as the others: name one twice for twice as often. */
  kinds: readonly Fault[];
}

export interface DrawnFaults {
  fault(request: Buffer): Fault | undefined;
  left(): number;
}

/** A seeded schedule of faults. */
export function drawFaults({ random, count, share, among, kinds }: FaultDraw): DrawnFaults {
  let left = count;
  return {
    fault(request) {
      if (left === 0 || (among && !among(request)) || !random.chance(share)) return undefined;
      left--;
      return random.pick(kinds);
    },
    left: () => left,
  };
}
