import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Fatal } from '../../schemas/failures.ts';
import { dataDirFault } from '../platform/data-dir.ts';
import { syncDirectory, writeDurably } from '../platform/durable-file.ts';
import { launchAs, type ServerAccount } from './server-account.ts';

export const SERVER_USER = 'metergate';
/** The password lives within the cluster: both appear, and are copied or deleted, together. */
const PASSWORD_FILE = 'metergate-password';
const INITDB_TIMEOUT_MS = 120_000;

/**
 * Makes the cluster when there is none and returns its password; throws Fatal `database_missing` where
 * something else is in its place. The cluster is made in a folder next to its place and renamed when
 * complete: the remains of an interrupted start are not taken for a cluster. Each start has a folder of its
 * own for that: the initdb of a killed start may still write in another.
 */
export async function prepareCluster(
  directory: string,
  initdb: string,
  account: ServerAccount,
): Promise<string> {
  if (!hasCluster(directory)) {
    rejectUnusablePaths(directory, initdb);
    clearPlace(directory);
    await removeUnfinished(directory);
    const unfinished = mkdtempSync(`${directory}.new-`);
    give(unfinished, account);
    await makeCluster(unfinished, initdb, account);
    await rename(unfinished, directory);
    syncDirectory(dirname(directory));
  }
  return readFile(join(directory, PASSWORD_FILE), 'utf8');
}

/**
 * initdb passes its own folder and the cluster's to a shell: it puts the first into double quotes unchanged,
 * and takes no line breaks in the second. An existing cluster can be started from any path. Throws Fatal
 * `postgres_path_unusable` (exit 2).
 */
function rejectUnusablePaths(directory: string, initdb: string): void {
  const [character] = /["$`\\\n\r]/.exec(initdb) ?? [];
  if (character !== undefined) {
    throw new Fatal(
      'postgres_path_unusable',
      `Postgres cannot be set up from ${dirname(initdb)}: it does not take ${JSON.stringify(character)} in ` +
        'a path. Move the program to another folder, or set DATABASE_URL.',
    );
  }
  if (/[\n\r]/.test(directory)) {
    const shown = JSON.stringify(directory);
    throw new Fatal('postgres_path_unusable', `DATA_DIR must not hold a line break: ${shown}.`);
  }
}

/**
 * The folder alone proves nothing: a volume that is not mounted leaves an empty one. Throws Fatal
 * `data_dir_closed` where it belongs to another account.
 */
export function hasCluster(directory: string): boolean {
  try {
    return statSync(join(directory, PASSWORD_FILE), { throwIfNoEntry: false }) !== undefined;
  } catch (cause) {
    throw dataDirFault(cause, directory);
  }
}

/** Of an existing folder that is not empty. */
function clearPlace(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    throw new Fatal(
      'database_missing',
      `No database is in ${directory} (${code}): restore it from the backup of DATA_DIR, or move what ` +
        'is there away; if it is a mount point, mount the whole of DATA_DIR instead.',
      { cause },
    );
  }
}

/**
 * Repeated where a file was added in between: an initdb whose folder is missing gives up within a short time.
 */
async function removeUnfinished(directory: string): Promise<void> {
  const above = dirname(directory);
  const names = (await readdir(above)).filter((name) => name.startsWith(`${basename(directory)}.new`));
  for (const name of names) await rm(join(above, name), { recursive: true, force: true, maxRetries: 10 });
}

async function makeCluster(directory: string, initdb: string, account: ServerAccount): Promise<void> {
  const password = randomBytes(24).toString('hex');
  const passwordFile = `${directory}-password`;
  // Durably: initdb syncs its own files, and an empty password file would make the cluster unusable.
  writeDurably(passwordFile, password);
  give(passwordFile, account);
  // The builtin provider sorts by code point and knows Unicode's cases, the same on every machine, without
  // ICU.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const access = [`--username=${SERVER_USER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  await run(initdb, ['-D', directory, ...locale, ...access], account);
  await rename(passwordFile, join(directory, PASSWORD_FILE));
  syncDirectory(directory);
}

async function run(program: string, args: string[], account: ServerAccount): Promise<void> {
  const launch = launchAs(account, [program, ...args], [args[1] ?? program]);
  const child = spawn(launch.command, launch.args, {
    ...launch.account,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { LC_ALL: 'C' },
    timeout: INITDB_TIMEOUT_MS,
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-4096);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Fatal('postgres_initdb_failed', `initdb ended with ${code}: ${complaint.trim()}`);
}

function give(path: string, account: ServerAccount): void {
  if (account) chownSync(path, account.uid, account.gid);
}
