import { Transient } from '../../schemas/failures.ts';
import type { BlockInsert } from './transport.ts';

/**
 * Throws Transient `rows_missing` unless ClickHouse has taken all rows of the block. It took fewer without an
 * error where data was handed to the embedded engine with an empty line in it, and where its file had a `*`
 * in the path. The block is then sent again and repaired.
 */
export function checkTaken({ into, block }: BlockInsert, taken: number): void {
  // mutant: taken-rows-not-compared
  if (taken !== block.rows) {
    const [table] = into.split(' ');
    throw new Transient('rows_missing', `ClickHouse took ${taken} of the ${block.rows} rows for ${table}.`);
  }
}
