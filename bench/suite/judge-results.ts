import { GOALS, type Measured } from './goals.ts';
import { CONTROL_TOLERANCE } from './paired.ts';

/** A kept result, of which only what is compared is known here. */
export interface KeptResult {
  kind?: string;
  form?: string;
  commit?: string;
  machine?: object;
  measured?: Measured[];
  options?: object;
  latencyMs?: Record<string, number>;
  events?: Record<string, number>;
}

export interface Compared {
  name: string;
  before: number;
  after: number;
  /** After / before. */
  change: number;
  /** What two runs of the same may differ by. */
  tolerance: number;
  verdict: 'WORSE' | 'better' | 'same' | 'void';
}

export class NotComparable extends Error {}

interface Figure {
  name: string;
  better: 'higher' | 'lower';
  value: number;
  noise: number;
  isVoid: boolean;
}

/** The least that two runs differ by, whatever their own controls say. */
const NOISE_MIN = 0.05;
/** Where nothing was run in turns: one run against any server has no control. */
const NOISE_WITHOUT_CONTROL = 0.15;
const PERCENTILES = ['p50', 'p90', 'p99', 'p99.9'];

/** Everything that stands in both. Throws NotComparable when that is nothing. */
export function compareResults(
  before: KeptResult,
  after: KeptResult,
): { warnings: string[]; compared: Compared[] } {
  if (before.kind !== after.kind) {
    throw new NotComparable(`one is of kind ${before.kind}, the other of kind ${after.kind}`);
  }
  const later = new Map(figuresOf(after).map((figure) => [figure.name, figure]));
  const compared = figuresOf(before).flatMap((figure) => {
    const other = later.get(figure.name);
    return other ? [judged(figure, other)] : [];
  });
  if (compared.length === 0) throw new NotComparable(`two of kind ${before.kind} hold nothing to compare`);
  const differing = (['form', 'machine', 'options'] as const).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  return { warnings: differing.map((name) => `they differ in their ${name}`), compared };
}

function judged(before: Figure, after: Figure): Compared {
  const change = after.value / before.value;
  const tolerance = Math.max(NOISE_MIN, before.noise + after.noise);
  const gain = before.better === 'higher' ? change : 1 / change;
  const moved = gain < 1 - tolerance ? 'WORSE' : gain > 1 + tolerance ? 'better' : 'same';
  const verdict = before.isVoid || after.isVoid ? 'void' : moved;
  return { name: before.name, before: before.value, after: after.value, change, tolerance, verdict };
}

function figuresOf(result: KeptResult): Figure[] {
  return [...(result.measured ?? []).flatMap(ratioOf), ...runFigures(result)];
}

/** The noise of a ratio is what its control saw; away from 1 by too much it says nothing at all. */
function ratioOf({ id, value, control, noise }: Measured): Figure[] {
  const goal = GOALS.find((one) => one.id === id);
  if (!goal || value === undefined) return [];
  const isVoid = control !== undefined && Math.abs(control - 1) > CONTROL_TOLERANCE;
  return [{ name: id, better: goal.better, value, noise: noise ?? NOISE_WITHOUT_CONTROL, isVoid }];
}

function runFigures({ latencyMs = {}, events = {} }: KeptResult): Figure[] {
  const common = { noise: NOISE_WITHOUT_CONTROL, isVoid: false };
  const times = PERCENTILES.flatMap((name): Figure[] => {
    const value = latencyMs[name];
    return value === undefined ? [] : [{ name: `latency ${name}`, better: 'lower', value, ...common }];
  });
  if (events.perSecond === undefined) return times;
  return [...times, { name: 'events per second', better: 'higher', value: events.perSecond, ...common }];
}
