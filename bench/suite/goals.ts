import { CONTROL_TOLERANCE } from './paired.ts';

/** A ratio of the table of goals: what is compared, and what we are after. */
export interface Goal {
  id: string;
  what: string;
  better: 'higher' | 'lower';
  unit?: string;
  steps: { floor: number; target: number; stretch?: number };
}

export const GOALS: readonly Goal[] = [
  {
    id: 'G1',
    what: 'CPU per event, batches of 500: bare uWS that only parses / whole ingest',
    better: 'higher',
    steps: { floor: 0.22, target: 1, stretch: 1.3 },
  },
  {
    id: 'G2',
    what: 'the same for single events',
    better: 'higher',
    steps: { floor: 0.55, target: 0.75, stretch: 0.85 },
  },
  {
    id: 'G3',
    what: 'p99 of the response at half of own capacity / p99 of a bare flush of the same bytes',
    better: 'lower',
    steps: { floor: 3, target: 2, stretch: 1.5 },
  },
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
    id: 'G6',
    what: 'p99 from the response to counted in GET /usage',
    better: 'lower',
    unit: 's',
    steps: { floor: 3, target: 1.5, stretch: 0.5 },
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
  note?: string;
}

/** The best step that was reached; `void` where the control says that the machine was too noisy. */
export function verdict({ better, steps }: Goal, { value, control, isSmaller }: Measured): string {
  if (value === undefined) return 'not measured';
  if (control !== undefined && Math.abs(control - 1) > CONTROL_TOLERANCE) return 'void';
  if (isSmaller) return 'a smaller form';
  const reaches = (step: number) => (better === 'higher' ? value >= step : value <= step);
  if (steps.stretch !== undefined && reaches(steps.stretch)) return 'stretch';
  if (reaches(steps.target)) return 'target';
  return reaches(steps.floor) ? 'floor' : 'below the floor';
}
