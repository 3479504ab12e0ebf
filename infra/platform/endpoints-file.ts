import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeDurably } from './durable-file.ts';

/** Where the control side is to be found just now: it and Postgres take other ports at each start. */
export interface Endpoints {
  /** With the password in it: not for logs. */
  postgresUrl: string;
  controlUrl: string;
}

/** The content of the file: it is valid for the folder that it was written in, and for no copy. */
interface Notified extends Endpoints {
  folder: string;
}

export function writeEndpoints(file: string, { postgresUrl, controlUrl }: Endpoints): void {
  const notified: Notified = { postgresUrl, controlUrl, folder: folderOf(file) };
  writeDurably(file, JSON.stringify(notified));
}

/**
 * The endpoints written last, or undefined before the first write or after a disk lost them: callers that
 * wait try again. A copy of DATA_DIR contains a file by which an operator, or the data plane itself, would
 * write to the original's database.
 */
export function readEndpoints(file: string): Endpoints | undefined {
  try {
    const { folder, ...endpoints } = Object(JSON.parse(readFileSync(file, 'utf8'))) as Notified;
    return folder === folderOf(file) ? endpoints : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** By number, not by name: in containers other volumes have the same path, and one volume several. */
function folderOf(file: string): string {
  const { dev, ino } = statSync(dirname(file), { bigint: true });
  return `${dev}:${ino}`;
}
