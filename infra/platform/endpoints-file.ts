import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeDurably } from './durable-file.ts';

/** Where the control side is to be found just now: it and Postgres take other ports at each start. */
export interface Endpoints {
  /** With the password in it: not for logs. */
  postgresUrl: string;
  controlUrl: string;
}

export function writeEndpoints(file: string, { postgresUrl, controlUrl }: Endpoints): void {
  writeInFolder(file, { postgresUrl, controlUrl });
}

/** Where the data plane takes usage of the installation itself, on another port at each start. */
export function writeOwnUsageUrl(file: string, url: string): void {
  writeInFolder(file, { url });
}

/** Undefined as with {@link readEndpoints}. */
export function readOwnUsageUrl(file: string): string | undefined {
  return readInFolder<{ url: string }>(file)?.url;
}

/** What is written is valid for the folder that it was written in, and for no copy. */
function writeInFolder(file: string, content: object): void {
  writeDurably(file, JSON.stringify({ ...content, folder: folderOf(file) }));
}

/**
 * The endpoints written last, or undefined before the first write or after a disk lost them: callers that
 * wait try again. A copy of DATA_DIR contains a file by which an operator, or the data plane itself, would
 * write to the original's database.
 */
export function readEndpoints(file: string): Endpoints | undefined {
  return readInFolder<Endpoints>(file);
}

function readInFolder<Content>(file: string): Content | undefined {
  try {
    const read = Object(JSON.parse(readFileSync(file, 'utf8'))) as Content & { folder: string };
    const { folder, ...content } = read;
    return folder === folderOf(file) ? (content as Content) : undefined;
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
