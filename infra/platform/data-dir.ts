import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Fatal } from '../../schemas/failures.ts';
import { listSegments, segmentName } from '../segment-log/segment-file.ts';
import { isDiskFull } from './disk-guard.ts';
import { syncDirectory } from './durable-file.ts';

/** The folder of all stored data. The layout is fixed: a newer release finds it as it was left. */
export interface DataDir {
  root: string;
  log: string;
  keys: string;
  postgres: string;
  warehouse: string;
  endpoints: string;
  /** Where the data plane takes usage of our own. */
  ownUsage: string;
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
    ownUsage: join(root, 'run', 'own-usage.json'),
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
    // An error in the path itself is thrown before any of its folders is made.
    statSync(root, { throwIfNoEntry: false });
    makePassable(root);
    for (const directory of [...shared, ...stores]) makeFolder(directory, 0o700);
    for (const directory of [root, ...shared, ...stores]) accessSync(directory, OURS);
    // Each store syncs what is in its folder; a power cut that took the folder's name would take all of it.
    // mutant: folders-without-a-name
    syncDirectory(root);
    checkKinds(root);
    for (const base of listSegments(paths.log)) checkFile(join(paths.log, segmentName(base)));
  } catch (cause) {
    throw dataDirFault(cause, root);
  }
  return paths;
}

/** What is opened at a start and made by others than {@link prepareDataDir}, where it is there. */
const FOLDERS = ['postgres', 'warehouse/data', 'warehouse/metadata', 'warehouse/store'];
const FILES = [
  ...['server-secret', 'postgres.log', 'locks/data-dir.lock', 'locks/ingest.lock', 'locks/control.lock'],
  ...['demo-keys.json', 'log/durable-end', 'keys/checkpoint'],
  ...['postgres/postmaster.pid', 'postgres/metergate-password'],
];
/** These are written next to their place first. */
const REPLACED = [
  ...[
    'run/endpoints.json',
    'run/own-usage.json',
    'demo-keys.json.uncommitted',
    'warehouse/metergate-stamp.json',
  ],
  ...['log/log.json', 'keys/records', 'postgres-password'],
];

/**
 * Throws Fatal `data_dir_closed` where a folder has the name of a file, or a file that of a folder: each part
 * that opens one would end with an error that names neither the cause nor the cure.
 */
export function rejectWrongKinds(root: string): void {
  try {
    checkKinds(root);
  } catch (cause) {
    throw dataDirFault(cause, root);
  }
}

function checkKinds(root: string): void {
  for (const name of FOLDERS) checkFolder(join(root, name));
  for (const name of [...FILES, ...REPLACED.flatMap((one) => [one, `${one}.new`])]) {
    checkFile(join(root, name));
  }
}

function checkFolder(path: string): void {
  if (lookAt(path)?.isDirectory() === false) throw faultAt('ENOTDIR', path);
}

/** A device is accepted; a pipe would block the start. */
function checkFile(path: string): void {
  const found = lookAt(path);
  if (found?.isDirectory()) throw faultAt('EISDIR', path);
  if (found?.isFIFO() || found?.isSocket()) throw faultAt('EINVAL', path);
}

/**
 * Undefined where nothing exists, and within a folder of another account, which this process may not read.
 */
function lookAt(path: string): Stats | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw faultAt('ENOENT', path);
    return found;
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    return undefined;
  }
}

function faultAt(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${path}`), { code, path });
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
 * True where it did not exist. Not with `recursive`: where a file system takes no folders, Node then throws
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
const FIX_IT = 'Fix that, or set DATA_DIR to another folder.';
const MOVE_IT = 'Move it away, and restore the file where there was one, or set DATA_DIR to another folder.';
/** What is wrong with a path, and what to do. */
const FAULTS: Record<string, [what: string, cure: string]> = {
  EACCES: [NOT_OURS, GIVE],
  EPERM: [NOT_OURS, GIVE],
  EROFS: ['is on a file system that is mounted read-only', FIX_IT],
  EEXIST: [NO_FOLDER, FIX_IT],
  ENOTDIR: [NO_FOLDER, FIX_IT],
  EISDIR: ['is a folder, and has to be a file', MOVE_IT],
  EINVAL: ['is neither a file nor a folder', MOVE_IT],
  ENOENT: ['is a link to nothing, or on a file system that takes no folders', FIX_IT],
  ELOOP: ['is a link that leads back to itself', FIX_IT],
  ENAMETOOLONG: ['is too long', 'Set DATA_DIR to a shorter path.'],
};
const WHAT_AN_UPGRADE_NEEDS = 'An upgrade may need more than the release before: docs/operate/upgrade.md.';
const PATH_SHOWN_MAX = 200;

/** The Fatal for one of these faults; any other error comes back as it is. */
export function dataDirFault(cause: unknown, root: string): unknown {
  const { code = '', path = root } = cause as NodeJS.ErrnoException;
  const shown = path.length > PATH_SHOWN_MAX ? `${path.slice(0, PATH_SHOWN_MAX)}...` : path;
  if (isDiskFull(cause)) {
    const message = `There is no room on the disk of ${shown} (${code}): free some, and start again.`;
    return new Fatal('disk_full', `${message} ${WHAT_AN_UPGRADE_NEEDS}`, { cause });
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
