import { afterAll } from 'vitest';
import { inTime } from './in-time.ts';

/** As long as a hook may take. */
const OPEN_MS = 180_000;

/** What all tests of a file share: awaited at the top of the file, and closed after the last of them. */
export async function ofThisFile<T>(opening: Promise<T>, close: (opened: T) => unknown): Promise<T> {
  const opened = await inTime(opening, OPEN_MS, 'what the tests of this file share');
  afterAll(async () => void (await close(opened)));
  return opened;
}
