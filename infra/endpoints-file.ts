import { readFileSync } from 'node:fs';
import { writeDurably } from './durable-file.ts';

/** Where the control side is to be found just now: it and Postgres take other ports at each start. */
export interface Endpoints {
  /** With the password in it: not for logs. */
  postgresUrl: string;
  controlUrl: string;
}

export function writeEndpoints(file: string, endpoints: Endpoints): void {
  writeDurably(file, JSON.stringify(endpoints));
}

/** What was written last, or undefined while nobody has: those who wait ask again. */
export function readEndpoints(file: string): Endpoints | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Endpoints;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
