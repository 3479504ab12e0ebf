import { BY_PROPERTY_COLUMNS, byPropertyOfChange } from './usage-by-property.ts';
import { HOURLY_COLUMNS, HOURLY_GROUP, hourlyOfChange } from './usage-hourly.ts';

/** Tables of events of changes of usage: what they add, and what they take away. */
export const CHANGE_TABLES = ['change_events', 'voided_events'] as const;
export type ChangeEventsTable = (typeof CHANGE_TABLES)[number];

/** Statements that fill both rollups of a change with what both tables have, of a condition on their rows. */
export function rollupsOfChanges(where: string): string[] {
  return CHANGE_TABLES.flatMap((name) => insertsOf(name, where));
}

function insertsOf(name: ChangeEventsTable, where: string): string[] {
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
