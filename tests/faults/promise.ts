import { createRandom, type Random } from '../support/random.ts';

/**
 * What a promise of docs/reliability.md adds to `npm run torture`: how its rounds are begun, run and ended.
 * The harness owns the loop, the clock and the result file; the same promise with few rounds is a short form
 * of `npm test`.
 */
export interface FaultPromise {
  /** Its rows of the table: one run may judge several. */
  promises: readonly number[];
  /** By which `--only` picks it alone, where its numbers pick others too. */
  name?: string;
  title: string;
  /** How many rounds each form has. */
  rounds: Record<Form, number>;
  /** What this machine lacks that the rounds need, in words: then none is begun. Undefined when nothing. */
  lacks?(): string | undefined;
  /** Starts what the rounds need. */
  open(options: FaultOptions): Promise<FaultRounds>;
}

/** `short` is part of the tests. */
export type Form = 'short' | 'long';

export interface FaultOptions {
  /** Of the run: each round has its own. */
  seed: number;
  /** Rounds in all, those of a run that is resumed among them. */
  rounds: number;
  /** Sizes may differ between the forms, not only the count of rounds. */
  form: Form;
  /** A line for the operator, within a long round. */
  say(line: string): void;
  /**
   * Called with what ends a process or removes a folder, as soon as there is one. The last is called first,
   * whether all rounds were run or the opening failed. With `keep` the data stays: resolves with where it is.
   */
  onEnd(end: (how: { keep: boolean }) => Promise<unknown>): void;
}

/** What a round draws from: nothing else may differ between two runs of the same seed. */
export interface Round {
  number: number;
  seed: number;
  random: Random;
  /** Distinguishes its keys and names from those of the other rounds. */
  run: string;
}

export interface FaultRounds {
  /**
   * One fault, or one load of generated input, and the judgement after it. Called with growing numbers from
   * 0, or from the first one missing when a run is resumed: then nothing of the earlier rounds is there any
   * more. A rejection counts as a problem.
   */
  round(round: Round): Promise<RoundReport>;
  /** What can only be judged once, when all rounds were sound. */
  judge?(): Promise<RoundReport>;
}

export interface RoundReport {
  /** What was done or seen in this round alone; the harness adds them up. Units last: `killsOfPostgres`. */
  counts: Record<string, number>;
  /** The largest of each is kept: `rssPeakMib`, `firstResponseMs`. */
  peaks?: Record<string, number>;
  /** A sentence for each breach. Not empty: the promise is broken, and no further round is run. */
  problems: string[];
  /** Of the mutants: what each was found by, to distinguish a find from an accident. */
  foundBy?: string[];
  /** Set by the harness: the problem is what was thrown. It was not judged to be a breach. */
  thrown?: true;
}

/** The stored result of a promise's rounds, in bench/results/torture-*.json. */
export interface FaultResult {
  promises: readonly number[];
  title: string;
  seed: number;
  rounds: number;
  roundsDone: number;
  /**
   * Of those done, the ones that every judgement of the promise has passed, the one at the end as well. Fewer
   * than `rounds` are never `kept`: `--resume` runs those behind it again.
   */
  roundsJudged: number;
  /** What a resume returns to: there while rounds wait for the judgement at the end. */
  judged?: Tally;
  /** `unfinished` when the run was cut off: `--resume` continues it. */
  outcome: 'unfinished' | 'kept' | 'broken' | 'not run';
  seconds: number;
  counts: Record<string, number>;
  peaks: Record<string, number>;
  problems: string[];
  /** Of all rounds. */
  foundBy?: string[];
  /** The run was broken by what was thrown, not by a judgement. */
  thrown?: true;
  /** Why it was not run. */
  lacks?: string;
  /** The data and logs of a broken promise. */
  leftAt?: string;
}

export type Tally = Pick<FaultResult, 'seconds' | 'counts' | 'peaks'>;

/** Rounds of one seed draw different numbers, and a round the same ones in every run. */
export function roundOf(seed: number, number: number): Round {
  const own = (seed * 100_003 + number * 7919) >>> 0;
  return { number, seed: own, random: createRandom(own), run: `r${seed}-${number}` };
}
