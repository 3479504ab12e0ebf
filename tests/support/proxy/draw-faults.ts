import type { Random } from '../random.ts';
import type { Fault } from './tcp-proxy.ts';

export interface FaultDraw {
  random: Random;
  /** Share of the exchanges that get one. */
  share: number;
  /** Which exchanges may. Everything, by default. */
  among?: (request: Buffer) => boolean;
  /** Each as likely as the others: name one twice for twice as often. */
  kinds: readonly Fault[];
  /** The first of them, whatever is drawn. */
  firstly?: Fault;
  /** Called before each: true ends the faults, and everything passes. */
  isEnough: () => boolean;
}

/** A seeded schedule of faults. */
export function drawFaults({ random, share, among, kinds, firstly, isEnough }: FaultDraw) {
  let first = firstly;
  return (request: Buffer): Fault | undefined => {
    if (isEnough() || (among && !among(request)) || !random.chance(share)) return undefined;
    const fault = first ?? random.pick(kinds);
    first = undefined;
    return fault;
  };
}
