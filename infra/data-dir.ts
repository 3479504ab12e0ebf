import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Fatal } from '../schemas/failures.ts';
import { isDiskFull } from './disk-guard.ts';
import { syncDirectory } from './durable-file.ts';

/** Where everything stands that is kept. The layout is fixed: a newer release finds it as it was left. */
export interface DataDir {
  root: string;
  log: string;
  keys: string;
  postgres: string;
  warehouse: string;
  endpoints: string;
  demoKeys: string;
  /** The lock file of a role: `data-dir`, `ingest`, `control`. */
  lock(role: string): string;
}

/** The paths alone. */
export function dataDirAt(root: string): DataDir {
  return {
    root,
    log: join(root, 'log'),
    keys: join(root, 'keys'),
    postgres: join(root, 'postgres'),
    warehouse: join(root, 'warehouse'),
    endpoints: join(root, 'run', 'endpoints.json'),
    demoKeys: join(root, 'demo-keys.json'),
    lock: (role) => join(root, 'locks', `${role}.lock`),
  };
}

const OURS = constants.R_OK | constants.W_OK | constants.X_OK;

/**
 * Makes the folders of an installation, durably. Ours alone to read, except that Postgres' account may pass
 * through. Throws Fatal, one sentence that says what to do: `data_dir_closed` where the folder cannot be
 * used, `disk_full` where there is no room for it.
 */
export function prepareDataDir(root: string): DataDir {
  const paths = dataDirAt(root);
  const shared = [dirname(paths.lock('any')), dirname(paths.endpoints)];
  const stores = [paths.log, paths.keys, paths.warehouse];
  try {
    // What no folder above it can mend is thrown before any of them is made.
    statSync(root, { throwIfNoEntry: false });
    makePassable(root);
    for (const directory of [...shared, ...stores]) makeFolder(directory, 0o700);
    for (const directory of [root, ...shared, ...stores]) accessSync(directory, OURS);
    // Each store syncs what is in its folder; a power cut that took the folder's name would take all of it.
    syncDirectory(root);
  } catch (cause) {
    throw dataDirFault(cause, root);
  }
  return paths;
}

/** Root makes folders that others cannot enter under a strict umask, and `mktemp -d` always does. */
function makePassable(root: string): void {
  const above = dirname(root);
  if (!existsSync(above)) makePassable(above);
  if (makeFolder(root, 0o711)) syncDirectory(above);
  const { mode, uid } = statSync(root);
  if (process.getuid?.() === 0 && uid === 0 && (mode & 0o001) === 0) chmodSync(root, (mode & 0o777) | 0o011);
}

/**
 * True where it was not there. Not by `recursive`: where a file system takes no folders, Node then answers
 * ENOENT (read-only) or tries forever (procfs).
 */
function makeFolder(directory: string, mode: number): boolean {
  try {
    mkdirSync(directory, { mode });
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !statSync(directory).isDirectory()) throw error;
    return false;
  }
}

const NOT_OURS = 'is not ours to write';
const GIVE = 'Give it to the account that runs Metergate, or set DATA_DIR to another folder.';
const NO_FOLDER = 'is not a folder';
const MEND = 'Mend that, or set DATA_DIR to another folder.';
/** What is wrong with a path, and what to do. */
const FAULTS: Record<string, [what: string, cure: string]> = {
  EACCES: [NOT_OURS, GIVE],
  EPERM: [NOT_OURS, GIVE],
  EROFS: ['is on a file system that is mounted read-only', MEND],
  EEXIST: [NO_FOLDER, MEND],
  ENOTDIR: [NO_FOLDER, MEND],
  ENOENT: ['is a link to nothing, or on a file system that takes no folders', MEND],
  ELOOP: ['is a link that leads back to itself', MEND],
  ENAMETOOLONG: ['is too long', 'Set DATA_DIR to a shorter path.'],
};
const PATH_SHOWN_MAX = 200;

function dataDirFault(cause: unknown, root: string): unknown {
  const { code = '', path = root } = cause as NodeJS.ErrnoException;
  const shown = path.length > PATH_SHOWN_MAX ? `${path.slice(0, PATH_SHOWN_MAX)}...` : path;
  if (isDiskFull(cause)) {
    return new Fatal('disk_full', `There is no room on the disk of ${shown} (${code}): free some.`, {
      cause,
    });
  }
  const fault = FAULTS[code];
  if (fault === undefined) return cause;
  const [what, cure] = fault;
  const message = `DATA_DIR cannot be used: ${shown} ${what} (${code}). ${cure}`;
  return new Fatal('data_dir_closed', message, { cause });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
