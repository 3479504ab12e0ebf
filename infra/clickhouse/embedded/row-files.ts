import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inlineParameters } from '../inline-parameters.ts';
import { checkTaken } from '../taken-rows.ts';
import type { BlockInsert } from '../transport.ts';
import type { ChdbSession } from './chdb-connection.ts';

/**
 * Hands blocks to the engine in files: of data that comes with the statement it takes what is before the
 * first empty line, and every binary format has such bytes.
 */
export interface RowFiles {
  insert(session: ChdbSession, insert: BlockInsert, token: string | undefined): Promise<void>;
}

/** In a folder of the warehouse's own. What a crash left there is removed: its range is sent again. */
export function createRowFiles(directory: string): RowFiles {
  const folder = emptyFolder(directory);
  let files = 0;
  return {
    async insert(session, insert, token) {
      files += 1;
      const file = join(folder, `${files}.rows`);
      try {
        // Not flushed: nothing reads it after a crash.
        await writeFile(file, insert.block.bytes, { mode: 0o600 });
        await insertFile(session, { ...insert, file, token });
      } finally {
        await rm(file, { force: true });
      }
    },
  };
}

interface FileInsert extends BlockInsert {
  file: string;
  token: string | undefined;
}

async function insertFile({ client }: ChdbSession, insert: FileInsert): Promise<void> {
  const { into, format, file, token } = insert;
  // In the statement: what the client is given as settings stays with the session. The token would be that of
  // each later insert, and a repair's rows taken for known. A time limit that stayed would cut this one.
  const withToken = token === undefined ? '' : ', insert_deduplication_token = {token:String}';
  const sql = `INSERT INTO ${into} FROM INFILE {file:String}
    SETTINGS max_execution_time = 0${withToken} FORMAT ${format}`;
  const { summary } = await client.command({ query: inlineParameters(sql, { file, token: token ?? '' }) });
  // Of an insert: those that it has taken from the file.
  checkTaken(insert, Number(summary?.read_rows));
}

/** ClickHouse takes such a path for many files. */
const PATTERN = /[*?{}]/;

function emptyFolder(directory: string): string {
  if (PATTERN.test(directory)) return mkdtempSync(join(tmpdir(), 'metergate-rows-'));
  const folder = join(directory, 'rows-to-insert');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700, recursive: true });
  return folder;
}
