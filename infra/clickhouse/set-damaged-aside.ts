import type { Logger } from 'pino';
import type { Transport } from './transport.ts';

/** Every byte of a table is read. */
const CHECK_MS_MAX = 600_000;
const PART_NAME = /^\w+$/;

interface CheckedPart {
  part_path: string;
  is_passed: number;
  message: string;
}

/**
 * Has each part looked at byte by byte, and what cannot be read moved out of the way of all statements, into
 * the table's folder `detached`. Gives how many. What they held is for others to put back.
 */
export async function setDamagedAside(
  { rows, command }: Pick<Transport, 'rows' | 'command'>,
  { tables, log }: { tables: readonly string[]; log: Logger },
): Promise<number> {
  let count = 0;
  for (const table of tables) {
    const parts = await rows<CheckedPart>({
      sql: `CHECK TABLE metergate.${table} SETTINGS check_query_single_value_result = 0`,
      lane: 'long',
      timeoutMs: CHECK_MS_MAX,
    });
    const damaged = parts.filter(({ is_passed, part_path }) => is_passed === 0 && PART_NAME.test(part_path));
    for (const { part_path: part, message } of damaged) {
      await command(`ALTER TABLE metergate.${table} DETACH PART '${part}'`);
      log.error({ table, part, reason: message }, 'a damaged part was set aside');
      count += 1;
    }
  }
  return count;
}
