/**
 * The rows of a table with this id, for a FROM, each `written` last by that transaction. By the id alone:
 * with its environment too, every row of the environment was read for each of many ids when the statistics
 * knew little of it (500 customers took longer than a statement may). The caller compares `environment`
 * itself.
 */
export function rowsBy(table: string, column: string, id: string): string {
  return `LATERAL (SELECT *, xmin AS written FROM ${table} WHERE ${column} = ${id} OFFSET 0)`;
}
