import { RESETS } from '../../schemas/value-sets.ts';

const ASCENDING = `ARRAY[${RESETS.map((one) => `'${one}'`).join(', ')}]`;

/** The aggregate of domain/rules/limit-windows.ts: the longest of the values of a column. */
export function longestSql(column: string): string {
  return `(${ASCENDING})[max(array_position(${ASCENDING}, ${column}))]`;
}
