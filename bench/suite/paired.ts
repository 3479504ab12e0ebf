import { percentile } from '../freshness-probe.ts';

/** One round: the control, then what is judged, then the control again. Anything where more is better. */
export interface Round {
  before: number;
  ours: number;
  after: number;
}

export interface Paired {
  /** The median over the rounds of ours beside the mean of its two controls. */
  value: number;
  /** The median of control beside control: away from 1.00 ± 0.05 the machine was too noisy to tell. */
  control: number;
  /** How far one control is from the other in a middling round: what two equal things differ by. */
  noise: number;
  /** Of each round. */
  pairs: number[];
}

/** One round of something that was run. */
export type Turn<T> = Record<keyof Round, T>;

/** Control, ours, control, ours, control …: what ends one round begins the next. */
export async function inTurns<T>(
  rounds: number,
  control: () => Promise<T>,
  ours: () => Promise<T>,
): Promise<Array<Turn<T>>> {
  const turns: Array<Turn<T>> = [];
  let before = await control();
  for (let round = 0; round < rounds; round++) {
    const turn = { before, ours: await ours(), after: await control() };
    turns.push(turn);
    before = turn.after;
  }
  return turns;
}

/** A figure of each round. */
export function eachRound<T>(turns: ReadonlyArray<Turn<T>>, figure: (run: T) => number): Round[] {
  return turns.map(({ before, ours, after }) => ({
    before: figure(before),
    ours: figure(ours),
    after: figure(after),
  }));
}

export const CONTROL_TOLERANCE = 0.05;

export function paired(rounds: readonly Round[]): Paired {
  const pairs = rounds.map(({ before, ours, after }) => (2 * ours) / (before + after));
  const controls = rounds.map(({ before, after }) => after / before);
  return {
    value: rounded(median(pairs)),
    control: rounded(median(controls)),
    noise: rounded(median(controls.map((one) => Math.abs(one - 1)))),
    pairs: pairs.map(rounded),
  };
}

export function median(values: readonly number[]): number {
  return percentile([...values], 50);
}

/** To four digits that tell something. */
export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
