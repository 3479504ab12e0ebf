import type { FileHandle } from 'node:fs/promises';
import { Fatal } from '../../schemas/failures.ts';

/** Whose keys they are. 16 bytes each. */
export interface RecordOwner {
  identityCheck: Uint8Array;
  logId: Uint8Array;
}

/** How a file is made; tests make one whose writes fail. */
export type OpenFile = (path: string, flags: number, mode: number) => Promise<FileHandle>;

/** The message for an operator when the key table's files cannot be trusted. */
export function rejection(code: string, path: string, why: string): Fatal {
  return new Fatal(
    code,
    `${path} ${why}. Restore it, or move its folder: it is then rebuilt from the log and the warehouse.`,
  );
}

export function newerRelease(path: string): Fatal {
  return new Fatal('record_file_newer', `${path} was written by a newer Metergate: start that one.`);
}

/** Throws Fatal `identity_key_mismatch` or `record_file_foreign` when a file is not of this installation. */
export function checkOwner(path: string, owner: RecordOwner, found: RecordOwner): void {
  if (!Buffer.from(found.identityCheck).equals(owner.identityCheck)) {
    throw new Fatal(
      'identity_key_mismatch',
      `${path} was written under another identity key: database and keys must be of one installation.`,
    );
  }
  // mutant: log-id-unchecked
  if (!Buffer.from(found.logId).equals(owner.logId)) {
    throw rejection('record_file_foreign', path, 'belongs to another log');
  }
}

export async function writeAllAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/**
 * A sync that fails is never tried again, not even for a full disk: the system reports once that it lost
 * written data, and the next sync of the same file succeeds without it. Throws Fatal.
 */
export async function syncOnce(path: string, sync: () => Promise<void>): Promise<void> {
  await sync().catch((cause: unknown) => {
    // mutant: failed-sync-tried-again
    throw new Fatal('record_file_write_failed', `${path} cannot be made durable.`, { cause });
  });
}
