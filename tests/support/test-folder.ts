import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** Keeps an act for the end: vitest's `onTestFinished` for that of a test, `afterAll` for that of a file. */
export type AtEnd = (act: () => void | Promise<void>) => void;

/** A folder of its own, gone at the end. */
export function folderUntil(atEnd: AtEnd): string {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-test-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** For the running test. */
export function testFolder(): string {
  return folderUntil(onTestFinished);
}

/** For all tests of a file. */
export function folderOfThisFile(): string {
  return folderUntil(afterAll);
}
