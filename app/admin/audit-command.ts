/**
 * `npm run audit [-- --repair]`: exit 0 when nothing differs, 1 when something does, 2 when the audit could
 * not run.
 */
import { pino } from 'pino';
import { AUDIT_EXIT, requestAudit } from '../../aggregator/audit/request-audit.ts';
import { dataDirAt } from '../../infra/platform/data-dir.ts';
import { readEndpoints } from '../../infra/platform/endpoints-file.ts';
import { createPool } from '../../infra/postgres/pool.ts';
import { readEnv, toConfig } from '../config/config.ts';

/** Longer than the lease of an aggregator that died in the middle of an audit. */
const BEGIN_WITHIN_MS = 30_000;
const CONNECTIONS_MAX = 1;
const AUDIT_USAGE = `Usage: npm run audit [-- --repair]
Compares counters, stored events and the log of the Metergate that runs on DATA_DIR or DATABASE_URL.
--repair corrects what differs.
Exit codes: 0 nothing differs, 1 something differs, 2 the audit could not run.`;

process.exitCode = await auditCommand(process.argv.slice(2), console.log).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  return AUDIT_EXIT.impossible;
});

async function auditCommand(args: string[], print: (line: string) => void): Promise<number> {
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    print(AUDIT_USAGE);
    return AUDIT_EXIT.same;
  }
  const unknown = args.filter((arg) => arg !== '--repair');
  if (unknown.length > 0) throw new Error(`Unknown: ${unknown.join(' ')}.\n${AUDIT_USAGE}`);
  const config = toConfig(readEnv());
  const url = config.databaseUrl ?? readEndpoints(dataDirAt(config.dataDir).endpoints)?.postgresUrl;
  if (url === undefined) throw new Error(`No Metergate runs on ${config.dataDir}: start it first.`);
  const pool = createPool({ url, name: 'audit', log: pino({ level: 'silent' }), max: CONNECTIONS_MAX });
  try {
    const repair = args.includes('--repair');
    return await requestAudit(pool, { repair, beginWithinMs: BEGIN_WITHIN_MS, print });
  } finally {
    await pool.end();
  }
}
