/** `npm run schema`: writes infra/migrations/postgres/schema.sql from a database that is migrated for it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startEmbeddedPostgres } from '../infra/postgres/embedded.ts';
import { migratePostgres } from '../infra/postgres/migrate.ts';
import { dumpSchema } from './dump-schema.ts';

const folder = mkdtempSync(join(tmpdir(), 'metergate-schema-'));
const directory = join(folder, 'postgres');
try {
  const server = await startEmbeddedPostgres({ directory, log: pino({ level: 'warn' }) });
  try {
    await migratePostgres(server.url);
    writeFileSync('infra/migrations/postgres/schema.sql', await dumpSchema(server.url));
  } finally {
    await server.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
