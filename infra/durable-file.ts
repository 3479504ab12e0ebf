import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a small private file (mode 600) so that its place holds the old content or the whole new one, never less. */
export function writeDurably(path: string, content: string): void {
  const unfinished = `${path}.new`;
  const descriptor = openSync(unfinished, 'w', 0o600);
  writeFileSync(descriptor, content);
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(unfinished, path);
  syncDirectory(dirname(path));
}

/** Makes names in a folder durable: a new or renamed file is only found after a power cut when this was done. */
export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
