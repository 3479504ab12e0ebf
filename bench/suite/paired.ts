/** One round: the control, then what is judged, then the control again. Anything where more is better. */
export interface Round {
  before: number;
  ours: number;
  after: number;
}

export interface Paired {
  /** The median over the rounds of ours relative to the mean of its two controls. */
  value: number;
  /** The control judged as ours is: outside 1.00 ± 0.05 the machine was too noisy for a verdict. */
  control: number;
  /** How far that is from 1 in a middling round: the difference of two equal runs. */
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
  const controls = [...rounds.slice(0, 1).map(({ before }) => before), ...rounds.map(({ after }) => after)];
  return { value: rounded(median(pairs)), ...steadiness(controls), pairs: pairs.map(rounded) };
}

/** Runs of one candidate, each relative to the mean of its two neighbours: equal runs give 1. */
export function steadiness(runs: readonly number[]): Pick<Paired, 'control' | 'noise'> {
  return controlOf(
    runs.slice(1, -1).map((run, at) => (2 * run) / ((runs[at] ?? run) + (runs[at + 2] ?? run))),
  );
}

/** Of ratios that are 1 where the machine is steady. */
export function controlOf(ratios: readonly number[]): Pick<Paired, 'control' | 'noise'> {
  return {
    control: rounded(median(ratios)),
    noise: rounded(median(ratios.map((one) => Math.abs(one - 1)))),
  };
}

/** Of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

/** To four significant digits. */
export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
