import { CONTROL_TOLERANCE } from './paired.ts';

/** A ratio of the table of goals: what is compared, and what we are after. */
export interface Goal {
  id: string;
  what: string;
  better: 'higher' | 'lower';
  unit?: string;
  /** Counted, not timed: two runs of the same differ by little. */
  isCounted?: true;
  steps: { floor: number; target: number; stretch?: number };
}

/** Events per second of G3: a faster server would be asked for more at a share of its own capacity. */
export const FIXED_RATES = [170_000, 300_000] as const;

/** Events per second of G6. */
export const FRESHNESS_RATE = 120_000;

export function latencyGoal(rate: number): string {
  return `G3/${rate / 1_000}k`;
}

export const GOALS: readonly Goal[] = [
  {
    id: 'G1',
    what: 'CPU per event, batches of 500: bare uWS that only parses / whole ingest',
    better: 'higher',
    steps: { floor: 0.85, target: 1, stretch: 1.3 },
  },
  {
    id: 'G2',
    what: 'the same for single events',
    better: 'higher',
    steps: { floor: 0.62, target: 0.75, stretch: 0.85 },
  },
  ...FIXED_RATES.map((rate): Goal => {
    const what = `p99 of the response at ${rate / 1_000},000 events/s / p99 of a bare flush of such frames`;
    return { id: latencyGoal(rate), what, better: 'lower', steps: { floor: 5, target: 3 } };
  }),
  {
    id: 'G4',
    what: 'events durable per ingest CPU-second, batches / Express and one INSERT per event',
    better: 'higher',
    steps: { floor: 30, target: 50, stretch: 100 },
  },
  {
    id: 'G5',
    what: 'the same / uWS and one UNNEST per batch of 500',
    better: 'higher',
    steps: { floor: 1.5, target: 3, stretch: 5 },
  },
  {
    id: 'G6/120k',
    what: 'p99 from the response to counted in GET /usage, at 120,000 events/s',
    better: 'lower',
    unit: 's',
    steps: { floor: 1.2, target: 0.8 },
  },
  {
    id: 'G7',
    what: 'p99 of a counter / p99 of the same sum over raw rows in Postgres',
    better: 'lower',
    steps: { floor: 0.1, target: 0.02, stretch: 0.005 },
  },
  {
    id: 'G8',
    what: 'warm entitlement checks per second / bare Koa that returns a constant',
    better: 'higher',
    steps: { floor: 0.7, target: 0.85, stretch: 0.92 },
  },
  {
    id: 'G9',
    what: 'key table, CPU per key when large / at 1 M keys',
    better: 'lower',
    steps: { floor: 2, target: 1.5, stretch: 1.2 },
  },
  {
    id: 'G10',
    what: 'ingest CPU per event, two processes / one',
    better: 'lower',
    steps: { floor: 1.15, target: 1.05 },
  },
  {
    id: 'G11',
    what: 'durable, deduplicated events per ingest CPU-second, batches / OpenMeter with Redis (55 µs); by G1',
    better: 'higher',
    steps: { floor: 10, target: 50, stretch: 90 },
  },
  {
    id: 'W',
    what: 'bytes written to log and keys / bytes received, batches of 500',
    better: 'lower',
    isCounted: true,
    steps: { floor: 1.4, target: 1.2 },
  },
  {
    id: 'W/singles',
    what: 'the same for single events, 64 connections',
    better: 'lower',
    isCounted: true,
    steps: { floor: 1.4, target: 1.2 },
  },
  {
    id: 'G12',
    what: 'CPU of the control side per event, until all is counted and merges rest',
    better: 'lower',
    unit: 'µs',
    steps: { floor: 6, target: 4 },
  },
  {
    id: 'G13',
    what: 'events counted per second, sustained, with the load generator on the same cores',
    better: 'higher',
    unit: '/s',
    steps: { floor: 150_000, target: 200_000 },
  },
  {
    id: 'G14/mid',
    what: 'bytes of the warehouse per event, 300 customers × 10 meters within 3 hours',
    better: 'lower',
    unit: 'B',
    isCounted: true,
    steps: { floor: 60, target: 45 },
  },
  {
    id: 'G14/wide',
    what: 'the same, 1,000 customers × 20 meters over 40 days',
    better: 'lower',
    unit: 'B',
    isCounted: true,
    steps: { floor: 60, target: 45 },
  },
  {
    id: 'G15',
    what: "p50 of a breakdown of one customer's tenth, with 50 M events stored / with 1 M",
    better: 'lower',
    steps: { floor: 3, target: 1.5 },
  },
  {
    id: 'G16',
    what: 'p50 of a counter with an edge hour, with 10 M events stored',
    better: 'lower',
    unit: 'ms',
    steps: { floor: 65, target: 30 },
  },
  {
    id: 'G17',
    what: 'memory of the data plane per key, 100 M keys',
    better: 'lower',
    unit: 'B',
    isCounted: true,
    steps: { floor: 5, target: 3 },
  },
  {
    id: 'G18',
    what: 'from the kill of the data plane to its next 2xx, 100 M keys',
    better: 'lower',
    unit: 's',
    steps: { floor: 2, target: 2 },
  },
  {
    id: 'G19',
    what: 'bytes on disk per key, 100 M keys',
    better: 'lower',
    unit: 'B',
    isCounted: true,
    steps: { floor: 40, target: 40 },
  },
];

/** What one run found of a goal. */
export interface Measured {
  id: string;
  /** Undefined: not measured, and `note` says why. */
  value?: number;
  control?: number;
  noise?: number;
  pairs?: number[];
  /** What of many times the value is of, where that is not always the same. */
  by?: 'p50' | 'p99' | 'projected';
  /** Measured on less than the goal speaks of: no verdict. */
  isSmaller?: boolean;
  /** Something else than what is judged decided the value, and `note` says what. */
  isVoid?: boolean;
  /** The machine did not reach what the goal asks for, such as a rate: the value, if any, says nothing. */
  isNotReached?: boolean;
  note?: string;
}

/** The value says nothing: something else decided it, or the control shows a machine that was too noisy. */
export function saysNothing({ isVoid, control }: Pick<Measured, 'isVoid' | 'control'>): boolean {
  return isVoid === true || (control !== undefined && Math.abs(control - 1) > CONTROL_TOLERANCE);
}

/** The best step that was reached; `void` where the value says nothing. */
export function verdict({ better, steps }: Goal, measured: Measured): string {
  const { value, isSmaller, isNotReached } = measured;
  if (isNotReached) return 'not reached';
  if (value === undefined) return 'not measured';
  if (saysNothing(measured)) return 'void';
  if (isSmaller) return 'a smaller form';
  const reaches = (step: number) => (better === 'higher' ? value >= step : value <= step);
  if (steps.stretch !== undefined && reaches(steps.stretch)) return 'stretch';
  if (reaches(steps.target)) return 'target';
  return reaches(steps.floor) ? 'floor' : 'below the floor';
}
