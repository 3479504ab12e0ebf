import { existsSync, readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { replaceDurably } from '../platform/durable-file.ts';
import { type Checkpoint, readCheckpoint } from './former-checkpoint.ts';
import { checkOwner, newerRelease, type RecordOwner, rejection } from './key-files.ts';

/**
 * Which sealed files count, and what of the log they hold. It replaces itself as a whole: a crash leaves the
 * one before or this one. The first 40 bytes have the form of a checkpoint of the release before
 * (former-checkpoint.ts) with version 2, which makes that one reject the folder; then JSON follows.
 *
 *   0  u32  magic 'MGKC'           8 u64  sequence            24 u64  log position
 *   4  u16  version                16 u64  zero               32 u32  CRC-32 of the JSON
 *   6  u16  zero                                              36 u32  CRC-32 of bytes 0…35
 */
export interface Manifest {
  /** One more with each. */
  sequence: number;
  /** The next one's; one that was given to a file that never counted is given again. */
  nextNumber: number;
  /** All keys of the log before it are in files. */
  logPosition: number;
  /** Numbers of the sealed files. */
  small: number[];
  large: number[];
  /** What is left of the release before. */
  former?: FormerRecords;
}

/** The record file of the release before, which is taken over in parts. */
export interface FormerRecords extends Omit<Checkpoint, 'logPosition'> {
  /** The first so many records are in sealed files, and their CRC-32. */
  taken: number;
  takenCrc: number;
}

const HEADER_BYTES = 40;
const MANIFEST_MAGIC = 0x434b474d;
const MANIFEST_VERSION = 2;

/**
 * Undefined while none was ever written. Throws Fatal `record_file_damaged`, `record_file_newer`,
 * `identity_key_mismatch` or `record_file_foreign`. Reads the checkpoint of the release before as a manifest.
 */
export function readManifest(path: string, owner: RecordOwner): Manifest | undefined {
  if (!existsSync(path)) return undefined;
  const content = readFileSync(path);
  const version = versionOf(content);
  if (version === undefined || version < MANIFEST_VERSION) return formerManifest(path, content);
  if (version > MANIFEST_VERSION) throw newerRelease(path);
  const json = content.subarray(HEADER_BYTES);
  if (crc32(json) !== content.readUInt32LE(32)) {
    throw rejection('record_file_damaged', path, 'fails its checksum');
  }
  const { identityCheck, logId, ...manifest } = JSON.parse(json.toString()) as Manifest & Stored;
  checkManifestOwner(path, owner, { identityCheck, logId });
  return manifest;
}

interface Stored {
  identityCheck: string;
  logId: string;
}

function checkManifestOwner(path: string, owner: RecordOwner, stored: Stored): void {
  const [identityCheck, logId] = [Buffer.from(stored.identityCheck, 'hex'), Buffer.from(stored.logId, 'hex')];
  checkOwner(path, owner, { identityCheck, logId });
}

function versionOf(content: Buffer): number | undefined {
  if (content.length < HEADER_BYTES || content.readUInt32LE(0) !== MANIFEST_MAGIC) return undefined;
  return crc32(content.subarray(0, 36)) === content.readUInt32LE(36) ? content.readUInt16LE(4) : undefined;
}

function formerManifest(path: string, content: Buffer): Manifest | undefined {
  const checkpoint = readCheckpoint(path, content);
  if (!checkpoint) return undefined;
  const { logPosition, recordCount, recordsCrc } = checkpoint;
  const former = { recordCount, recordsCrc, taken: 0, takenCrc: 0 };
  return { ...NO_KEYS, logPosition, former };
}

export const NO_KEYS: Manifest = { sequence: 0, nextNumber: 1, logPosition: 0, small: [], large: [] };

/** Returns when it is durable. */
export async function writeManifest(path: string, manifest: Manifest, owner: RecordOwner): Promise<void> {
  const stored: Manifest & Stored = {
    ...manifest,
    identityCheck: Buffer.from(owner.identityCheck).toString('hex'),
    logId: Buffer.from(owner.logId).toString('hex'),
  };
  const json = Buffer.from(`${JSON.stringify(stored)}\n`);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(MANIFEST_MAGIC, 0);
  header.writeUInt16LE(MANIFEST_VERSION, 4);
  header.writeBigUInt64LE(BigInt(manifest.sequence), 8);
  header.writeBigUInt64LE(BigInt(manifest.logPosition), 24);
  header.writeUInt32LE(crc32(json), 32);
  header.writeUInt32LE(crc32(header.subarray(0, 36)), 36);
  await replaceDurably(path, Buffer.concat([header, json]));
}
