/**
 * One part of the product swapped for a broken one, to see the test of a promise go red with it. A patch of a
 * module's text, applied where the module is loaded: production code knows nothing of it.
 */
export interface Mutant {
  name: string;
  /** Its rows of docs/reliability.md. */
  promises: readonly number[];
  /** What goes wrong with it, and for whom. */
  why: string;
  /** The module, from the root and without its extension: `ingest/embedded/group-commit`. */
  module: string;
  /**
   * What to replace. White space counts as any white space and everything else as it is, once in the module's
   * TypeScript and once in the JavaScript made of it: choose a place without types.
   */
  find: string;
  replace: string;
  provedBy: readonly Proof[];
  /** The run of `npm run torture` that must find it, on real processes. */
  shownBy?: RoundsProof;
}

/** A test that passes, and fails with the mutant: by an assertion, not by its time limit. */
export interface Proof extends Stop {
  /** From the root. */
  test: string;
  /** The test's own title, whole. */
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

/** Tests of modules run broken themselves; those of whole processes only start broken ones. */
export type ProofKind = 'modules' | 'processes';

export function kindOf({ test }: Proof): ProofKind {
  return /\.(sys|timed|whole|whole-timed|distributed-sys)\.test\.ts$/.test(test) ? 'processes' : 'modules';
}

/** The sizes are those of the short form. */
export interface RoundsProof extends Stop {
  promise: number;
  rounds: number;
}

/** Thrown for a mutant that no longer fits its module: a refactoring must not silence it. */
export class MisfitMutant extends Error {}

export function applyMutant(text: string, { name, module, find, replace }: Mutant): string {
  const pieces = text.split(anyWhiteSpace(find));
  if (pieces.length !== 2) {
    throw new MisfitMutant(
      `The mutant ${name} fits ${pieces.length - 1} places of ${module}, not one: ${find}`,
    );
  }
  return pieces.join(replace);
}

function anyWhiteSpace(find: string): RegExp {
  const literal = find.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(literal.replace(/\s+/g, '\\s+'));
}
