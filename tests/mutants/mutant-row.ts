import type { Mutant, RoundsProof, Verb } from './mutant.ts';

/** A row of the lists: `mutant('no-flush', [1]).why('…').drop('infra/log').red(TEST, 'its title')`. */
export function mutant(name: string, promises: readonly number[]): MutantRow {
  const unset = { why: '', module: '', declaration: undefined, verb: 'drop', code: [] } as const;
  return new MutantRow({ name, promises, ...unset, provedBy: [] });
}

/**
 * Each verb changes the code behind the marker `mutant: NAME` of a module. `module#name` is a function or a
 * constant that needs no marker: of SQL and scripts, which stand in a text.
 */
export class MutantRow {
  readonly mutant: Mutant;

  constructor(row: Mutant) {
    this.mutant = row;
  }

  /** What goes wrong with it, and for whom. */
  why(why: string): MutantRow {
    return this.#with({ why });
  }

  /** Removes the code. */
  drop(module: string): MutantRow {
    return this.#changes('drop', module);
  }

  /** Makes the test of an `if`, a `while` or a ternary false; of anything else the value that it gives. */
  never(module: string): MutantRow {
    return this.#changes('never', module);
  }

  /** The same, true. */
  always(module: string): MutantRow {
    return this.#changes('always', module);
  }

  /** Moves the code behind the statement that follows. */
  later(module: string): MutantRow {
    return this.#changes('later', module);
  }

  /** Puts other code in its place. */
  is(module: string, code: string): MutantRow {
    return this.#changes('is', module, code);
  }

  /** Adds code before it. */
  before(module: string, code: string): MutantRow {
    return this.#changes('before', module, code);
  }

  /** Adds code behind it. */
  after(module: string, code: string): MutantRow {
    return this.#changes('after', module, code);
  }

  /** Replaces a part of its text, which must be in it once. */
  swap(module: string, find: string, replacement: string): MutantRow {
    return this.#changes('swap', module, find, replacement);
  }

  /** A test that has to fail with it; `stopsWith` as in {@link Mutant}. */
  red(test: string, title: string, stopsWith?: RegExp): MutantRow {
    const proof = { test, title, ...(stopsWith && { stopsWith }) };
    return this.#with({ provedBy: [...this.mutant.provedBy, proof] });
  }

  shownBy(shownBy: RoundsProof): MutantRow {
    return this.#with({ shownBy });
  }

  #changes(verb: Verb, place: string, ...code: string[]): MutantRow {
    const [module = '', declaration] = place.split('#');
    return this.#with({ module, declaration, verb, code });
  }

  #with(part: Partial<Mutant>): MutantRow {
    return new MutantRow({ ...this.mutant, ...part });
  }
}
