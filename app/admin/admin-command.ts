/** `npm run admin -- …`: exit 0 when it is done, 1 when it cannot be, 2 for bad arguments or settings. */
import type { Pool } from 'pg';
import { pino } from 'pino';
import { checkServerSecret, deriveSecrets, readServerSecret } from '../../domain/secrets.ts';
import { dataDirAt, rejectWrongKinds } from '../../infra/platform/data-dir.ts';
import { readEndpoints } from '../../infra/platform/endpoints-file.ts';
import { EXIT, exitCodeOf } from '../../infra/platform/exit-code.ts';
import { createPool } from '../../infra/postgres/pool.ts';
import { asTransient } from '../../infra/postgres/unavailable.ts';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { readEnv, toConfig } from '../config/config.ts';
import { type AdminCommand, adminUsage, readArguments, UsageFault } from './read-arguments.ts';
import { AdminRejection, runCommand } from './run-command.ts';

const CONNECTIONS_MAX = 1;
const USAGE_EXIT = 2;

process.exitCode = await adminCommand(process.argv.slice(2)).catch(explain);

async function adminCommand(args: string[]): Promise<number> {
  const nowMs = Date.now();
  const command = readArguments(args, nowMs);
  if (command.act === 'help') {
    console.log(adminUsage(command.words));
    return EXIT.stopped;
  }
  const { databaseUrl, dataDir, serverSecret: given } = toConfig(readEnv());
  rejectWrongKinds(dataDir);
  const url = databaseUrl ?? readEndpoints(dataDirAt(dataDir).endpoints)?.postgresUrl;
  if (url === undefined) throw new AdminRejection(`No Metergate runs on ${dataDir}: start it first.`);
  const secret = readServerSecret({ given, dataDir });
  const pool = createPool({ url, name: 'admin', log: pino({ level: 'silent' }), max: CONNECTIONS_MAX });
  try {
    await checkServerSecret(pool, secret, dataDir);
    await print(command, { pool, pepper: deriveSecrets(secret).keyPepper, nowMs });
    return EXIT.stopped;
  } finally {
    await pool.end();
  }
}

async function print(command: AdminCommand, deps: { pool: Pool; pepper: Buffer; nowMs: number }) {
  const { result, lines } = await runCommand(command, deps);
  console.log(command.json ? JSON.stringify(result) : lines.join('\n'));
}

function explain(error: unknown): number {
  if (error instanceof UsageFault) {
    console.error(`${error.message}\n${adminUsage()}`);
    return USAGE_EXIT;
  }
  console.error(messageOf(error));
  return error instanceof AdminRejection ? EXIT.failed : exitCodeOf(error);
}

/** Only the code of the driver's errors: the rest may show what is in a row. */
function messageOf(error: unknown): string {
  if (error instanceof AdminRejection || error instanceof Fatal) return error.message;
  if (asTransient(error) instanceof Transient) {
    return 'The Postgres of this Metergate does not respond: start it, or try again later.';
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  if (code === UNDEFINED_TABLE) return 'This database was not made by Metergate yet: start it first.';
  return code === undefined ? String(error) : `It failed: ${code}.`;
}

/** SQLSTATE. */
const UNDEFINED_TABLE = '42P01';
