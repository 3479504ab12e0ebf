import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { syncNames } from '../platform/durable-file.ts';
import type { EventLogReader } from '../ports/event-log.ts';
import { FormerKeys } from './former-keys.ts';
import { openRecordFile, RECORD_HEADER_BYTES } from './former-record-file.ts';
import { type RecordOwner, rejection } from './key-files.ts';
import { allNumbers, FORMER_RECORDS, MANIFEST, sealedNumbers } from './key-folder.ts';
import type { KeyMemory } from './key-memory.ts';
import { type Manifest, NO_KEYS, readManifest } from './manifest.ts';
import { openSealedFile, type SealedFile, sealedPath } from './sealed-file.ts';
import { LARGE, SealedFiles, SMALL } from './sealed-files.ts';

export interface StoredKeysOptions {
  directory: string;
  owner: RecordOwner;
  memory: KeyMemory;
  logReader: EventLogReader;
  log: Logger;
}

/** What a folder has of keys, open and searched. */
export interface StoredKeys {
  files: SealedFiles;
  former: FormerKeys | undefined;
  keyCount: number;
  /** The manifest as it is on the disk. */
  durable: Manifest;
  /** What of it is used. */
  known: Manifest;
  /** No manifest was ever written. */
  isNew: boolean;
  /**
   * They are made again, or are of the release before: the manifest has to be written before anything else.
   */
  isRenewed: boolean;
}

/** Changes nothing; the manifest that it returns is durable. Throws as openKeyTable. */
export async function openStoredKeys(options: StoredKeysOptions): Promise<StoredKeys> {
  const { directory, owner, memory, logReader, log } = options;
  const path = join(directory, MANIFEST);
  const manifest = readManifest(path, owner);
  // A kill may have come between its name and the sync: a power cut could bring the one before back, once the
  // log has given up what only this one covers.
  // mutant: manifest-trusted-before-it-is-durable
  if (manifest) await syncNames(directory);
  if (!manifest) checkNotForgotten(directory, await logReader.start(0));
  // mutant: table-rebuilt-from-the-log
  if (!manifest || !isWhole(directory, manifest)) {
    if (manifest) log.info({ path }, 'the keys are rebuilt');
    const durable = manifest ?? NO_KEYS;
    const files = new SealedFiles(memory);
    return {
      files,
      former: undefined,
      keyCount: 0,
      durable,
      known: NO_KEYS,
      isNew: !manifest,
      isRenewed: true,
    };
  }
  const files = await openFiles(options, manifest);
  try {
    const former = await openFormer(options, manifest);
    const sealed = [...files.of(SMALL), ...files.of(LARGE)].reduce(
      (sum, { shape }) => sum + shape.keyCount,
      0,
    );
    const isRenewed = manifest.sequence === 0;
    const keyCount = sealed + (former?.count ?? 0);
    return { files, former, keyCount, durable: manifest, known: manifest, isNew: false, isRenewed };
  } catch (error) {
    await files.close();
    throw error;
  }
}

export async function closeStored({ files, former }: StoredKeys): Promise<void> {
  await files.close();
  await former?.file.file.close();
}

/**
 * Once the log has given up its beginning these may be the only keys left. No crash leaves any without a
 * manifest: the first one is durable before them.
 */
function checkNotForgotten(directory: string, logStart: number): void {
  if (logStart === 0) return;
  const path = join(directory, FORMER_RECORDS);
  const hasRecords = existsSync(path) && statSync(path).size > RECORD_HEADER_BYTES;
  if (hasRecords) throw rejection('record_file_damaged', path, 'has lost its checkpoint');
  const [number] = sealedNumbers(directory);
  if (number === undefined) return;
  throw rejection('record_file_damaged', sealedPath(directory, number), 'has lost its manifest');
}

/** Whether nothing that it names is missing. */
function isWhole(directory: string, manifest: Manifest): boolean {
  const { former } = manifest;
  if (former && (former.recordCount === 0 || !existsSync(join(directory, FORMER_RECORDS)))) return false;
  return allNumbers(manifest).every(([, number]) => existsSync(sealedPath(directory, number)));
}

async function openFiles(
  { directory, owner, memory }: StoredKeysOptions,
  manifest: Manifest,
): Promise<SealedFiles> {
  const files = new SealedFiles(memory);
  const opened: [SealedFile[], SealedFile[]] = [[], []];
  try {
    for (const [kind, number] of allNumbers(manifest)) {
      const file = await openSealedFile(directory, number, owner);
      opened[kind].push(file);
      if (file.shape.bucketBits !== memory.bucketBits) {
        throw rejection('record_file_damaged', file.path, 'has another number of buckets');
      }
    }
    for (const kind of [SMALL, LARGE] as const) {
      // All at once: nothing waits for them yet.
      for (const _ of files.add(kind, opened[kind]));
    }
    return files;
  } catch (error) {
    for (const { file } of opened.flat()) await file.close();
    throw error;
  }
}

async function openFormer(
  { directory, owner }: StoredKeysOptions,
  { former }: Manifest,
): Promise<FormerKeys | undefined> {
  if (!former) return undefined;
  const file = await openRecordFile(join(directory, FORMER_RECORDS), owner, former.recordCount);
  try {
    return await FormerKeys.load(file, former);
  } catch (error) {
    await file.file.close();
    throw error;
  }
}
