import { onTestFinished } from 'vitest';
import { SILENT } from '../../tests/support/silent-log.ts';
import { SETTINGS_BY_CONNECTION } from './connection-settings.ts';
import { openChdbConnection } from './embedded/chdb-connection.ts';
import { createRowFiles } from './embedded/row-files.ts';
import { inlineParameters } from './inline-parameters.ts';
import { lineInsert, rowInserts, type Transport } from './transport.ts';

const TIMEOUT_MS = 20_000;

/** As chdb-warehouse.ts opens it, with limits. */
export function openTransport(directory: string, limits: Record<string, number>): Transport {
  const load = openChdbConnection({
    directory,
    settings: { ...SETTINGS_BY_CONNECTION.load, ...limits },
    log: SILENT,
  });
  onTestFinished(() => load.close());
  const files = createRowFiles(directory);
  return {
    rows: ({ sql, params, timeoutMs }) =>
      load.run(timeoutMs, async ({ client }) =>
        (await client.query({ query: inlineParameters(sql, params), format: 'JSONEachRow' })).json(),
      ),
    command: (sql) => load.run(TIMEOUT_MS, async ({ client }) => void (await client.command({ query: sql }))),
    insert: (lines) =>
      load.run(lines.timeoutMs, (session) => files.insert(session, lineInsert(lines), lines.token)),
    insertRows: (rows) =>
      load.run(rows.timeoutMs, async (session) => {
        for (const insert of rowInserts(rows)) await files.insert(session, insert, rows.token);
      }),
    close: () => load.close(),
  };
}
