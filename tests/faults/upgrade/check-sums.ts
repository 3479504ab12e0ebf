import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { DataDir } from '../../../infra/platform/data-dir.ts';

/** Of every file that no server writes: what a rejection must leave byte for byte as it was. */
export function checkSums({ log, keys }: DataDir): Record<string, number> {
  const files = [log, keys].filter((folder) => existsSync(folder)).flatMap(filesIn);
  return Object.fromEntries(files.map((path) => [path, crc32(readFileSync(path))]));
}

/** Of everything but the locks: of an installation whose stores stand elsewhere. */
export function checkSumsOfAll({ root, lock }: DataDir): Record<string, number> {
  const paths = filesIn(root).filter((path) => dirname(path) !== dirname(lock('any')));
  return Object.fromEntries(paths.map((path) => [path, crc32(readFileSync(path))]));
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
