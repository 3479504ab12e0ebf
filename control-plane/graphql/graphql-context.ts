import type { Loaders } from './loaders.ts';
import type { ReadContext } from './read-context.ts';

/** What the resolvers of one request share. */
export interface GraphqlContext extends ReadContext {
  loaders: Loaders;
  /** Stops the execution when the response gets too large. */
  spendBytes: (bytes: number) => void;
  /** Stops it when too many fields have failed. */
  countFailure: (error: unknown) => void;
}
