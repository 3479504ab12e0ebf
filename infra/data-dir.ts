import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Fatal } from '../schemas/failures.ts';
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
 * through. Throws Fatal `data_dir_closed` where we may not.
 */
export function prepareDataDir(root: string): DataDir {
  const paths = dataDirAt(root);
  const shared = [dirname(paths.lock('any')), dirname(paths.endpoints)];
  const stores = [paths.log, paths.keys, paths.warehouse];
  try {
    makePassable(root);
    for (const directory of [...shared, ...stores]) mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const directory of [root, ...shared, ...stores]) accessSync(directory, OURS);
    // Each store syncs what is in its folder; a power cut that took the folder's name would take all of it.
    syncDirectory(root);
  } catch (cause) {
    const { code, path } = cause as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS' && code !== 'ENOTDIR') throw cause;
    throw new Fatal(
      'data_dir_closed',
      `DATA_DIR cannot be used: ${path ?? root} is not ours to write (${code}). ` +
        'Give it to the account that runs Metergate, or set DATA_DIR to another folder.',
      { cause },
    );
  }
  return paths;
}

/** Root makes folders that others cannot enter under a strict umask, and `mktemp -d` always does. */
function makePassable(root: string): void {
  const above = dirname(root);
  if (!existsSync(above)) makePassable(above);
  const isNew = mkdirSync(root, { recursive: true, mode: 0o711 }) !== undefined;
  if (isNew) syncDirectory(above);
  const { mode, uid } = statSync(root);
  if (process.getuid?.() === 0 && uid === 0 && (mode & 0o001) === 0) chmodSync(root, (mode & 0o777) | 0o011);
}
