import { labelOf } from '../../domain/store/aggregate-sql.ts';

/** Names of properties, each with the value that events must have; '' selects events without it. */
export type PropertyFilter = ReadonlyArray<readonly [name: string, value: string]>;

/** A condition on rows of `events`; '' without a filter. Its values: {@link filterParams}. */
export function filterSql(filter: PropertyFilter): string {
  return filter
    .map((_, at) => `AND ${labelOf(`{filterName${at}:String}`)} = {filterValue${at}:String}`)
    .join(' ');
}

export function filterParams(filter: PropertyFilter): Record<string, string> {
  return Object.fromEntries(
    filter.flatMap(([name, value], at) => [
      [`filterName${at}`, name],
      [`filterValue${at}`, value],
    ]),
  );
}
