import { Unusable } from '../read-options.ts';
import { type Figure, faultsOf, figuresOf, type KeptResult } from './kept-figures.ts';

export interface Compared {
  name: string;
  before: number;
  /** Undefined: it was not measured any more. */
  after: number | undefined;
  /** After / before; undefined where that says nothing. */
  change?: number;
  /** What two runs of the same may differ by; undefined for what should not be at all. */
  tolerance?: number;
  verdict: 'WORSE' | 'better' | 'same' | 'void';
}

export class NotComparable extends Unusable {}

/** The least that two runs differ by, whatever their own controls say. */
const NOISE_MIN = 0.05;

/** Figures in both, and goals that the second lacks. Throws NotComparable when there are none. */
export function compareResults(
  before: KeptResult,
  after: KeptResult,
): { warnings: string[]; compared: Compared[] } {
  if (before.kind !== after.kind) {
    throw new NotComparable(`one is of kind ${before.kind}, the other of kind ${after.kind}`);
  }
  const later = new Map(figuresOf(after).map((figure) => [figure.name, figure]));
  const figures = figuresOf(before).flatMap((figure) => {
    const other = later.get(figure.name);
    return other ? [judged(figure, other)] : lost(figure);
  });
  const compared = [...figures, ...judgedFaults(before, after)];
  if (compared.length === 0) throw new NotComparable(`two of kind ${before.kind} hold nothing to compare`);
  const differing = (['form', 'machine', 'options'] as const).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const warnings = differing.map((name) => `they differ in their ${name}`);
  if (before.interrupted || after.interrupted) warnings.push('one of them was interrupted');
  return { warnings, compared };
}

function judged(before: Figure, after: Figure): Compared {
  const change = after.value / before.value;
  const tolerance = Math.max(NOISE_MIN, before.noise + after.noise);
  const gain = before.better === 'higher' ? change : 1 / change;
  const isWithinSlack = Math.abs(after.value - before.value) <= before.slack;
  const moved = gain < 1 - tolerance ? 'WORSE' : gain > 1 + tolerance ? 'better' : 'same';
  const isVoid = before.isVoid || after.isVoid || before.by !== after.by;
  const verdict = isVoid ? 'void' : isWithinSlack ? 'same' : moved;
  return { name: before.name, before: before.value, after: after.value, change, tolerance, verdict };
}

/** What is only a figure may be left out of a run; a goal that can not be measured any more got worse. */
function lost({ name, value, isGoal, isVoid }: Figure): Compared[] {
  if (!isGoal) return [];
  return [{ name, before: value, after: undefined, verdict: isVoid ? 'void' : 'WORSE' }];
}

/** Only what there was of it, in either. */
function judgedFaults(before: KeptResult, after: KeptResult): Compared[] {
  const [earlier, later] = [faultsOf(before), faultsOf(after)];
  return (['wrong', 'overload'] as const).flatMap((kind) =>
    [...new Set([...Object.keys(earlier[kind]), ...Object.keys(later[kind])])].flatMap((name): Compared[] => {
      const [was, is] = [earlier[kind][name] ?? 0, later[kind][name] ?? 0];
      if (was === 0 && is === 0) return [];
      const isWorse = is > 0 && (kind === 'wrong' || was === 0);
      return [{ name, before: was, after: is, verdict: isWorse ? 'WORSE' : is === 0 ? 'better' : 'same' }];
    }),
  );
}
