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
  rounds: RoundsOfForms;
  /** What this machine lacks that the rounds need, in words: then none is begun. Undefined when nothing. */
  lacks?(): string | undefined;
  /** Starts what the rounds need. What it had started is ended when it rejects. */
  open(options: FaultOptions): Promise<FaultRounds>;
}

export interface RoundsOfForms {
  short: number;
  long: number;
}

export interface FaultOptions {
  /** Round n of a seed draws from `createRandom(roundSeed(seed, n))` alone, so that it can be had again. */
  seed: number;
  /** Rounds in all, those of a run that is resumed among them. */
  rounds: number;
  /** Sizes may differ between the forms, not only the count of rounds. */
  form: 'short' | 'long';
  /** A line for the operator, within a long round. */
  say(line: string): void;
}

export interface FaultRounds {
  /**
   * One fault, or one load of generated input, and the judgement after it. Called with growing numbers from
   * 0, or from the first one missing when a run is resumed: then nothing of the earlier rounds is there any
   * more. A rejection counts as a problem.
   */
  round(number: number): Promise<RoundReport>;
  /** What can only be judged once, when all rounds were sound. */
  judge?(): Promise<RoundReport>;
  /** Ends every process. Removes the data, or with `keep` leaves it and says where it is. */
  close(options: { keep: boolean }): Promise<string | undefined>;
}

export interface RoundReport {
  /** Things done or seen in this round alone; the harness adds them up. Units last: `killsOfPostgres`. */
  counts: Record<string, number>;
  /** The largest of each is kept: `rssPeakMib`, `firstAnswerMs`. */
  peaks?: Record<string, number>;
  /** A sentence for each breach. Not empty: the promise is broken, and no further round is run. */
  problems: string[];
  /** Of the mutants: what each was found by, to distinguish a find from an accident. */
  foundBy?: string[];
  /** Set by the harness: the problem is what was thrown. Nobody has judged that it is a breach. */
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
  /** What a resume goes back to: there while rounds wait for the judgement at the end. */
  judged?: Tally;
  /** `unfinished` when the run was cut off: `--resume` goes on with it. */
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
export function roundSeed(seed: number, round: number): number {
  return (seed * 100_003 + round * 7919) >>> 0;
}
