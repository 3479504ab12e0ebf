import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import { EVENT_COLUMNS } from '../../schemas/stored/event-row.ts';
import { BY_PROPERTY_COLUMNS, byPropertyOfChange } from '../../schemas/stored/usage-by-property.ts';
import { HOURLY_COLUMNS, HOURLY_GROUP, hourlyOfChange } from '../../schemas/stored/usage-hourly.ts';

/** Where rows of a change go (0009_changes.sql), and what they have that ordinary usage has not. */
export interface ChangeTable {
  name: 'change_events' | 'voided_events';
  areVoided: boolean;
  /** Its further columns, the same for all rows of a block. */
  numbers: Record<string, number>;
}

export const CHANGE_TABLES: ReadonlyArray<ChangeTable['name']> = ['change_events', 'voided_events'];

export function changeTable({ number, voids, of = 0 }: ChangeRows): ChangeTable {
  return voids
    ? { name: 'voided_events', areVoided: true, numbers: { change: number, of_change: of } }
    : { name: 'change_events', areVoided: false, numbers: { change: number } };
}

/** Statements that fill both rollups of a change with what both tables have, of a condition on their rows. */
export function rollupsOfChanges(where: string): string[] {
  return CHANGE_TABLES.flatMap((name) => insertsOf(name, where));
}

function insertsOf(name: ChangeTable['name'], where: string): string[] {
  const areVoided = name === 'voided_events';
  const from = `metergate.${name} FINAL WHERE ${where}`;
  return [
    `INSERT INTO metergate.change_hourly (${HOURLY_COLUMNS}, change, of_change)
     SETTINGS insert_deduplicate = 0
     SELECT ${hourlyOfChange(areVoided)} FROM ${from} GROUP BY ${HOURLY_GROUP}, change, ofChange`,
    `INSERT INTO metergate.change_by_property (${BY_PROPERTY_COLUMNS}, change, of_change)
     SETTINGS insert_deduplicate = 0
     ${byPropertyOfChange(from, areVoided)}`,
  ];
}

/** Columns of {@link EVENT_COLUMNS} as they are, with the numbers: of lines in a table of memory. */
export function columnsOf({ numbers }: ChangeTable): { into: string; values: string } {
  const names = [...EVENT_COLUMNS, ...Object.keys(numbers)];
  return { into: names.join(', '), values: [...EVENT_COLUMNS, ...Object.values(numbers)].join(', ') };
}
