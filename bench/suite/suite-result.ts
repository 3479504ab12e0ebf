import type { MachineFacts } from '../../tests/support/machine.ts';
import type { CheckRatios } from './check-ratio.ts';
import type { DiskFigures, ShapeName } from './disk-bytes.ts';
import type { EdgeFigures } from './edge-counter.ts';
import type { LatencyFigures } from './fixed-rate-latency.ts';
import type { Measured } from './goals.ts';
import type { IngestFigures } from './ingest-ratios.ts';
import type { ManyKeysFigures } from './many-keys.ts';
import type { WholeFigures } from './request-to-count.ts';
import type { GrowthPoint, SoakFigures } from './scale.ts';
import type { SustainedFigures } from './sustained.ts';
import type { CounterFigures, FreshnessFigures } from './usage-ratios.ts';
import type { WrittenFigures } from './written-bytes.ts';

/** What a run of the suite found; parts that were left out or failed are not there. */
export interface SuiteResult {
  form: 'quick' | 'whole' | 'scale';
  seed: number;
  sizes: object;
  /** Parts that were to be left out. */
  skipped: string[];
  measured: Measured[];
  /** Parts that are not there were not begun, and one `failed`. */
  interrupted?: true;
  /** Of each part. */
  seconds: Record<string, number>;
  /** Cores that other work kept busy during each part; it is in every figure. */
  otherWorkCores: Record<string, number>;
  failed: Record<string, string>;
  stages?: { cpuMicrosPerEvent: Record<string, number>; logWallMicrosPerEvent: number };
  keyCurve?: Array<{ keys: number; microsPerKey: number; rssMib: number }>;
  ingest?: Omit<IngestFigures, 'measured'>;
  /** Of each fixed rate. */
  latency?: LatencyFigures[];
  written?: Record<string, WrittenFigures>;
  whole?: WholeFigures;
  sustained?: SustainedFigures;
  disk?: Record<ShapeName, DiskFigures>;
  manyKeys?: ManyKeysFigures;
  freshness?: Omit<FreshnessFigures, 'measured'>;
  counters?: Omit<CounterFigures, 'measured'>;
  checks?: CheckRatios;
  growth?: GrowthPoint[];
  edge?: EdgeFigures;
  soak?: SoakFigures;
}

/** As it is kept: see result-file.ts. */
export interface KeptSuite extends SuiteResult, MachineFacts {
  kind: string;
  at: string;
  commit: string;
}
