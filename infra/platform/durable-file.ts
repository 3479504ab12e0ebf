import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Fatal } from '../../schemas/failures.ts';

/** Writes a small private file (mode 600): its place holds the old content or the whole new one. */
export function writeDurably(path: string, content: string): void {
  const unfinished = `${path}.new`;
  const descriptor = openSync(unfinished, 'w', 0o600);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(unfinished, path);
  syncDirectory(dirname(path));
}

/** Makes names in a folder durable: without it a new file may be missing after a power cut. */
export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * As writeDurably, without blocking this process. Throws Fatal `file_not_durable` when the new content is in
 * its place already and may, or may not, be there after a power cut; whatever else it throws, the old one is.
 */
export async function replaceDurably(path: string, content: Uint8Array): Promise<void> {
  const unfinished = `${path}.new`;
  const file = await open(unfinished, 'w', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
  await syncNames(dirname(path)).catch((cause: unknown) => {
    throw new Fatal('file_not_durable', `${path} cannot be made durable.`, { cause });
  });
}

/** As syncDirectory, without blocking this process. */
export async function syncNames(directory: string): Promise<void> {
  const folder = await open(directory, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
