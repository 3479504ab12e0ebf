/**
 * One part of the product swapped for a broken one, to see the test of a promise go red with it. Its module
 * is changed when it is loaded (apply-mutant.ts); in the product a marker comment says where.
 */
export interface Mutant {
  name: string;
  /** Its rows of docs/reliability.md. */
  promises: readonly number[];
  /** What goes wrong with it, and for whom. */
  why: string;
  /**
   * The module, from the root and without its extension: `ingest/embedded/group-commit`. One of Python has
   * its own: `sdk/python/src/metergate/sender.py`.
   */
  module: string;
  /** The function or constant that it changes, where no marker says that. */
  declaration: string | undefined;
  verb: Verb;
  /** What the verb needs: the code that is put in, or what is swapped for what. */
  code: readonly string[];
  provedBy: readonly Proof[];
  /** The run of `npm run torture` that must find it, on real processes. */
  shownBy?: RoundsProof;
}

/** As mutant-row.ts explains them. */
export type Verb = 'drop' | 'never' | 'always' | 'later' | 'is' | 'before' | 'after' | 'swap';

/** A test that passes, and fails with the mutant: by an assertion, not by its time limit. */
export interface Proof extends Stop {
  /** From the root. */
  test: string;
  /** The test's own title, whole; in Python `Class.test_name`. */
  title: string;
}

/**
 * Anything at all may stop a run or a test: a Metergate that does not start, a request without a response, a
 * module that throws. That shows a mutant only where it is what the mutant does, and is named here.
 */
export interface Stop {
  /** What it stops with, where it is not judged; only a judgement counts otherwise. */
  stopsWith?: RegExp;
}

/** The sizes are those of the short form. */
export interface RoundsProof extends Stop {
  promise: number;
  rounds: number;
}

/** Tests of modules, in Python too, run broken; those of whole processes only start broken ones. */
export type ProofKind = 'modules' | 'python' | 'processes';

export function kindOf({ test }: Proof): ProofKind {
  if (test.endsWith('.py')) return 'python';
  return /\.(sys|timed|whole|whole-timed|distributed-sys)\.test\.ts$/.test(test) ? 'processes' : 'modules';
}
