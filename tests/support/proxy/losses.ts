import { seenInTime } from '../in-time.ts';
import type { ArmedProxy } from './armed-proxy.ts';
import { drawFaults, type FaultDraw } from './draw-faults.ts';
import type { Fault, TcpProxy } from './tcp-proxy.ts';

/** The responses of a hop that are to be lost. */
export interface LossesPlan extends Omit<FaultDraw, 'isEnough'> {
  hop: ArmedProxy;
  /** In the names of counts: `responsesLostOfWarehouse`. */
  name: string;
  count: number;
  onRequest?: (request: Buffer, fault: Fault | undefined) => void;
}

export interface Losses {
  /** Resolves when the wanted number of responses was lost. */
  enough(): Promise<void>;
  /** Counts of what was lost, to be read once every request has its response. */
  counts(): Record<string, number>;
}

/** Responses are lost; a part of one arrives, and then nothing more. */
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
      await seenInTime(() => isEnough() || undefined, PATIENCE, `lost responses of the hop ${name}`);
    },
    counts: () => ({
      [`responsesLostOf${name}`]: responsesLost(),
      [`requestsLostOf${name}`]: hop.done().lose - before.lose,
      [`responsesDelayedOf${name}`]: hop.done().delay - before.delay,
    }),
  };
}

function responsesIn({ swallow, cut, hang }: ReturnType<TcpProxy['done']>): number {
  return swallow + cut + hang;
}
