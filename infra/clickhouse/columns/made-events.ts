import type { RowBlock } from '../../ports/warehouse.ts';
import type { PropertyRows } from '../rollups/property-rows.ts';

/** Events as columns, and what the WebAssembly made of them in the same turn. */
export interface MadeEvents {
  block: RowBlock;
  /** The same as `hourRows` and `propertyRows` make of the block (infra/clickhouse/rollups). */
  hours?: RowBlock;
  byProperty?: PropertyRows;
}

/** Hours, and rows by property where it is given what they leave out: names of `propertyMonthText`. */
export interface WantedRollups {
  closed?: ReadonlySet<string> | undefined;
  /**
   * Since then each event of a `latest` meter has its order of arrival. Hours of other meters, as their
   * events show, do not say what came last: nothing reads it, and it takes most bytes. Undefined: never.
   */
  orderedSinceMs?: number | undefined;
}

/** Gives memory of the caller's: so many bytes. */
export type Take = (bytes: number) => Buffer;
