import { GOALS, type Measured, saysNothing } from './goals.ts';
import type { SuiteResult } from './suite-result.ts';

type Figures = Record<string, number>;

/** What a load says of itself, alone or as a part of the suite. */
interface KeptLoad {
  problems?: string[];
  counters?: string;
  requestsNotSent?: number;
  requestsRepeated?: Figures;
  requestsGivenUp?: number;
}

/** A kept result, of which only what is compared is known here; an older one may lack any of it. */
export interface KeptResult extends KeptLoad {
  kind?: string;
  form?: string;
  commit?: string;
  machine?: object;
  interrupted?: boolean;
  measured?: Measured[];
  options?: object;
  latencyMs?: Figures;
  events?: Figures;
  stages?: Partial<NonNullable<SuiteResult['stages']>>;
  ingest?: Partial<NonNullable<SuiteResult['ingest']>>;
  whole?: Partial<NonNullable<SuiteResult['whole']>>;
  sustained?: Partial<NonNullable<SuiteResult['sustained']>>;
  latency?: SuiteResult['latency'];
  disk?: SuiteResult['disk'];
  manyKeys?: Partial<NonNullable<SuiteResult['manyKeys']>>;
  keyCurve?: SuiteResult['keyCurve'];
  growth?: SuiteResult['growth'];
  soak?: KeptLoad & { latencyMs?: Figures };
}

export interface Figure {
  name: string;
  better: 'higher' | 'lower';
  value: number;
  /** Of what this differs by from itself, as a share. */
  noise: number;
  /** What it may differ by whatever the share: a tick of the CPU's clock is much of a small cost. */
  slack: number;
  isVoid: boolean;
  /** Two of different kinds are not compared. */
  by?: string;
  /** Not to be there any more is worse: it was one of the goals. */
  isGoal: boolean;
}

/** Where nothing was run in turns: one run against any server has no control. */
const NOISE_WITHOUT_CONTROL = 0.15;
/** Of bytes and the like, which no other work on the machine changes. */
const NOISE_OF_COUNTS = 0.025;
/** Of costs, sizes and times of one machine: two runs together 15 %. */
const NOISE_OF_COSTS = 0.075;
const SLACK_OF_STAGES_MICROS = 0.02;
/** A tick is 10 ms: that much for each of 100,000 events. */
const SLACK_OF_PROCESSES_MICROS = 0.1;
const PERCENTILES = ['p50', 'p90', 'p99', 'p99.9'];

export function figuresOf(result: KeptResult): Figure[] {
  return [...(result.measured ?? []).flatMap(ratioOf), ...costFigures(result), ...runFigures(result)];
}

/**
 * The noise of a ratio is what its control saw; away from 1 by too much it says nothing at all. What was not
 * reached is not there: that is worse than any figure.
 */
function ratioOf(measured: Measured): Figure[] {
  const { id, value, noise, by, isNotReached } = measured;
  const goal = GOALS.find((one) => one.id === id);
  if (!goal || value === undefined || isNotReached) return [];
  const usual = goal.isCounted ? NOISE_OF_COUNTS : NOISE_WITHOUT_CONTROL;
  const isVoid = saysNothing(measured);
  const kind = by === undefined ? {} : { by };
  return [
    { name: id, better: goal.better, value, noise: noise ?? usual, slack: 0, isVoid, isGoal: true, ...kind },
  ];
}

/** All that is better when it is less. */
function costFigures(result: KeptResult): Figure[] {
  const { stages, ingest, whole, sustained, disk, manyKeys, keyCurve = [], growth = [], soak } = result;
  const inProcess = SLACK_OF_PROCESSES_MICROS;
  // The cost of generator and baselines is listed too, and says nothing about Metergate.
  const ours = (figures: Figures = {}, isOurs = (name: string) => name !== 'generator') =>
    Object.fromEntries(Object.entries(figures).filter(([name]) => isOurs(name)));
  return [
    ...costs('CPU of stage', stages?.cpuMicrosPerEvent, SLACK_OF_STAGES_MICROS),
    ...costs(
      'CPU of',
      ours(ingest?.cpuMicrosPerEvent, (name) => name.startsWith('ingest')),
      inProcess,
    ),
    ...costs('CPU to the count,', ours(whole?.cpuMicrosPerEvent), inProcess),
    ...costs('peak memory,', ours(whole?.rssPeakMib)),
    ...costs('peak memory, sustained,', ours(sustained?.rssPeakMib)),
    ...costs('disk per event,', whole?.diskBytesPerEvent),
    ...costs('warehouse per event, mid,', disk?.mid.bytesPerEvent),
    ...costs('warehouse per event, wide,', disk?.wide.bytesPerEvent),
    ...costs('CPU per key,', { 'added to many': manyKeys?.cpuMicrosPerKey }),
    ...keyCurve.flatMap(({ keys, microsPerKey }) => costs('CPU per key', { [at(keys)]: microsPerKey })),
    ...growth.flatMap((point) => [
      ...costs('CPU of ingest', { [at(point.events)]: point.ingestCpuMicros }, inProcess),
      ...costs('counter p99', { [at(point.events)]: point.counterMs.p99 }),
      ...costs('breakdown p99', { [at(point.events)]: point.breakdownMs.p99 }),
    ]),
    ...costs('soak, latency', { p50: soak?.latencyMs?.p50, p99: soak?.latencyMs?.p99 }),
  ];
}

function at(count: number): string {
  return `at ${Number((count / 1e6).toPrecision(2))} M`;
}

function costs(title: string, figures: Record<string, number | undefined> = {}, slack = 0): Figure[] {
  const common = { better: 'lower', noise: NOISE_OF_COSTS, slack, isVoid: false, isGoal: false } as const;
  return Object.entries(figures).flatMap(([name, value]) => {
    return value === undefined ? [] : [{ name: `${title} ${name}`, value, ...common }];
  });
}

function runFigures({ latencyMs = {}, events = {} }: KeptResult): Figure[] {
  const common = { noise: NOISE_WITHOUT_CONTROL, slack: 0, isVoid: false, isGoal: false };
  const times = PERCENTILES.flatMap((name): Figure[] => {
    const value = latencyMs[name];
    return value === undefined ? [] : [{ name: `latency ${name}`, better: 'lower', value, ...common }];
  });
  if (events.perSecond === undefined) return times;
  return [...times, { name: 'events per second', better: 'higher', value: events.perSecond, ...common }];
}

/** What should not be at all, by name: how often it was. */
export interface Faults {
  /** Wrong responses and counters: any of them is worse, whatever was before. */
  wrong: Figures;
  /** Requests that show too much load: worse where there were none before. */
  overload: Figures;
}

export function faultsOf({ soak, ...load }: KeptResult): Faults {
  const parts = [['', load] as const, ...(soak ? [['soak, ', soak] as const] : [])];
  const faults: Faults = { wrong: {}, overload: {} };
  for (const [prefix, { problems = [], counters, requestsRepeated = {}, ...requests }] of parts) {
    faults.wrong[`${prefix}problems`] = problems.length;
    faults.wrong[`${prefix}counters wrong`] = counters === 'wrong' ? 1 : 0;
    const repeated = Object.values(requestsRepeated).reduce((sum, times) => sum + times, 0);
    faults.overload[`${prefix}requests repeated`] = repeated;
    faults.overload[`${prefix}requests not sent`] = requests.requestsNotSent ?? 0;
    faults.overload[`${prefix}requests given up`] = requests.requestsGivenUp ?? 0;
  }
  return faults;
}
