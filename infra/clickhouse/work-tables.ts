import { createHash } from 'node:crypto';
import type { EventLines } from '../ports/warehouse.ts';
import { isUnreadable } from './driver-errors.ts';
import type { LineBlock, Transport } from './transport.ts';

/** The lines as they were sent; those that `events` lacks; hours that differ from their events. */
export type WorkTables = Record<'sent' | 'missing' | 'wrong', string>;

/** The same whenever this block is sent again: what a crash leaves is removed by the next one. */
export function workTables(token: string): WorkTables {
  const name = createHash('sha256').update(token).digest('hex').slice(0, 16);
  return {
    sent: `metergate.sent_${name}`,
    missing: `metergate.missing_${name}`,
    wrong: `metergate.wrong_${name}`,
  };
}

export async function dropTables(transport: Pick<Transport, 'command'>, tables: WorkTables): Promise<void> {
  for (const table of Object.values(tables)) await transport.command(`DROP TABLE IF EXISTS ${table} SYNC`);
}

/** Makes the table of lines. Rejected lines are never sent again, so no later repair would remove it. */
export async function sendToWorkTable(
  transport: Transport<EventLines>,
  tables: WorkTables,
  block: Omit<LineBlock<EventLines>, 'table'>,
): Promise<void> {
  await dropTables(transport, tables);
  await transport.command(`CREATE TABLE ${tables.sent} AS metergate.event_lines ENGINE = Memory`);
  try {
    await transport.insert({ table: tables.sent, ...block });
  } catch (error) {
    if (isUnreadable(error)) await dropTables(transport, tables);
    throw error;
  }
}
