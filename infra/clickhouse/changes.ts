import type { ChangeEventsTable } from '../../schemas/stored/change-rollups.ts';
import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import { EVENT_COLUMNS } from '../../schemas/stored/event-row.ts';

/** Where rows of a change go (0009_changes.sql), and what they have that ordinary usage has not. */
export interface ChangeTable {
  name: ChangeEventsTable;
  areVoided: boolean;
  /** Its further columns, the same for all rows of a block. */
  numbers: Record<string, number>;
}

export function changeTable({ number, voids, of = 0 }: ChangeRows): ChangeTable {
  return voids
    ? { name: 'voided_events', areVoided: true, numbers: { change: number, of_change: of } }
    : { name: 'change_events', areVoided: false, numbers: { change: number } };
}

/** Columns of {@link EVENT_COLUMNS} as they are, with the numbers: of lines in a table of memory. */
export function columnsOf({ numbers }: ChangeTable): { into: string; values: string } {
  const names = [...EVENT_COLUMNS, ...Object.keys(numbers)];
  return { into: names.join(', '), values: [...EVENT_COLUMNS, ...Object.values(numbers)].join(', ') };
}
