import { seenInTime } from '../in-time.ts';
import type { ArmedProxy } from './armed-proxy.ts';
import { drawFaults, type FaultDraw } from './draw-faults.ts';
import type { Fault, TcpProxy } from './tcp-proxy.ts';

/** The answers of a hop that are to be lost. */
export interface LossesPlan extends Omit<FaultDraw, 'isEnough'> {
  hop: ArmedProxy;
  /** In the names of counts: `answersLostOfWarehouse`. */
  name: string;
  count: number;
  onRequest?: (request: Buffer, fault: Fault | undefined) => void;
}

export interface Losses {
  /** Resolves when as many answers were lost as are to be. */
  enough(): Promise<void>;
  /** What was lost, to be asked for once all is answered. */
  counts(): Record<string, number>;
}

/** Answers are lost; a part of one arrives, and then nothing more. */
export const SWALLOWED: readonly Fault[] = [
  { kind: 'swallow' },
  { kind: 'swallow' },
  { kind: 'swallow' },
  { kind: 'cut', bytes: 30 },
  { kind: 'cut', bytes: 400 },
];

const PATIENCE = { timeoutMs: 100_000, everyMs: 5 };

/** Faults of a hop's requests, from now on, until so many were done: not each that is drawn is. */
export function createLosses({ hop, name, count, onRequest, ...draw }: LossesPlan): Losses {
  const before = hop.done();
  const responsesLost = () => responsesIn(hop.done()) - responsesIn(before);
  const isEnough = () => responsesLost() >= count;
  const drawn = drawFaults({ isEnough, ...draw });
  hop.arm((request) => {
    const fault = drawn(request);
    onRequest?.(request, fault);
    return fault;
  });
  return {
    async enough() {
      await seenInTime(() => isEnough() || undefined, PATIENCE, `lost answers of the hop ${name}`);
    },
    counts: () => ({
      [`answersLostOf${name}`]: responsesLost(),
      [`requestsLostOf${name}`]: hop.done().lose - before.lose,
      [`answersDelayedOf${name}`]: hop.done().delay - before.delay,
    }),
  };
}

function responsesIn({ swallow, cut, hang }: ReturnType<TcpProxy['done']>): number {
  return swallow + cut + hang;
}
