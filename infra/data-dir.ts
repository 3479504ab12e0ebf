import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

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

/** Makes the folders that are shared. Ours alone to read, except that Postgres' account may pass through. */
export function prepareDataDir(root: string): DataDir {
  const paths = dataDirAt(root);
  makePassable(root);
  for (const directory of [dirname(paths.lock('any')), dirname(paths.endpoints)]) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }
  return paths;
}

/** Root makes folders that others cannot enter under a strict umask, and `mktemp -d` always does. */
function makePassable(root: string): void {
  const above = dirname(root);
  if (!existsSync(above)) makePassable(above);
  mkdirSync(root, { recursive: true, mode: 0o711 });
  const { mode, uid } = statSync(root);
  if (process.getuid?.() === 0 && uid === 0 && (mode & 0o001) === 0) chmodSync(root, (mode & 0o777) | 0o011);
}
