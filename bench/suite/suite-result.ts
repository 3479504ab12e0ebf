import type { MachineFacts } from '../../tests/support/machine.ts';
import type { CheckRatios } from './check-ratio.ts';
import type { Measured } from './goals.ts';
import type { IngestFigures } from './ingest-ratios.ts';
import type { LatencyFigures } from './latency-ratio.ts';
import type { GrowthPoint, SoakFigures } from './scale.ts';
import type { CounterFigures, FreshnessFigures } from './usage-ratios.ts';

/** What a run of the suite found; parts that were left out or failed are not there. */
export interface SuiteResult {
  form: 'quick' | 'whole' | 'scale';
  seed: number;
  sizes: object;
  measured: Measured[];
  /** Parts that are not there were not begun, and one `failed`. */
  interrupted?: true;
  /** Of each part. */
  seconds: Record<string, number>;
  failed: Record<string, string>;
  stages?: { cpuMicrosPerEvent: Record<string, number>; logWallMicrosPerEvent: number };
  keyCurve?: Array<{ keys: number; microsPerKey: number; rssMib: number }>;
  ingest?: Omit<IngestFigures, 'measured'>;
  latency?: Omit<LatencyFigures, 'measured'>;
  /** From the request to the count. */
  whole?: {
    events: number;
    /** With the time until nothing waited. */
    countedPerSecond: number;
    cpuMicrosPerEvent: Record<string, number>;
    rssPeakMib: Record<string, number>;
    diskBytesPerEvent: Record<string, number>;
  };
  freshness?: Omit<FreshnessFigures, 'measured'>;
  counters?: Omit<CounterFigures, 'measured'>;
  checks?: CheckRatios;
  growth?: GrowthPoint[];
  soak?: SoakFigures;
}

/** As it is kept: see result-file.ts. */
export interface KeptSuite extends SuiteResult, MachineFacts {
  kind: string;
  at: string;
  commit: string;
}
