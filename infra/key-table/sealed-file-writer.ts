import { constants, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { Defect } from '../../schemas/failures.ts';
import { syncNames } from '../platform/durable-file.ts';
import { type OpenFile, type RecordOwner, syncOnce, writeAllAt } from './key-files.ts';
import type { KeyMemory } from './key-memory.ts';
import {
  CRC_BYTES,
  ENTRY_BYTES,
  encodeSealedHeader,
  groupCount,
  groupOffset,
  recordBytes,
  SEALED_HEADER_BYTES,
  type SealedFile,
  type SealedShape,
  sealedPath,
  startsOffset,
} from './sealed-file.ts';

/** Buckets of one turn of the mill: `first` up to `end`. */
export interface BucketRange {
  first: number;
  end: number;
}

export interface NewSealedFile {
  directory: string;
  openFile: OpenFile;
  number: number;
  owner: RecordOwner;
  shape: SealedShape;
}

/** Brings the records of a range of buckets into the mill. */
export interface Collect {
  /** What has to be waited for, before. */
  read?(range: BucketRange): Promise<void>;
  /** In one turn with what follows: others use the mill in the next one. */
  fill(range: BucketRange): void;
}

/** Keys of one turn: 600 KB of the file, a millisecond of work. */
const TURN_KEYS = 16_384;

/**
 * Makes a sealed file, durable and with a durable name when this returns. What cannot be written is removed
 * again.
 */
export async function writeSealedFile(
  memory: KeyMemory,
  wanted: NewSealedFile,
  collect: Collect,
): Promise<SealedFile> {
  const { directory, openFile, number, owner, shape } = wanted;
  const path = sealedPath(directory, number);
  const file = await openFile(path, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, 0o600);
  try {
    const { starts, entriesCrc } = await writeGroups(memory, { path, file, shape }, collect);
    const startBytes = Buffer.from(starts.buffer);
    await writeAllAt(file, startBytes, startsOffset(shape));
    const indexCrc = crc32(startBytes, entriesCrc);
    await writeAllAt(file, encodeSealedHeader(shape, owner, indexCrc), 0);
    // mutant: sealed-before-it-is-durable
    await syncOnce(path, () => file.datasync());
    await syncNames(dirname(path));
    return { path, file, number, shape, starts };
  } catch (error) {
    await file.close();
    rmSync(path, { force: true });
    throw error;
  }
}

/**
 * A part at a time, each durable before the next one is written: a file of 300 MB that becomes durable at
 * once keeps the log's flushes waiting.
 */
async function writeGroups(
  memory: KeyMemory,
  to: Pick<SealedFile, 'path' | 'file' | 'shape'>,
  collect: Collect,
): Promise<{ starts: Uint32Array; entriesCrc: number }> {
  const { path, file, shape } = to;
  const starts = new Uint32Array(groupCount(shape) + 1);
  const room = { entries: EMPTY, groups: EMPTY };
  let keys = 0;
  let entriesCrc = 0;
  for (const range of rangesOf(shape)) {
    await collect.read?.(range);
    memory.beginMill();
    collect.fill(range);
    const group = range.first >> shape.lowBits;
    const made = takeGroups(memory, shape, range, room);
    for (const [at, start] of made.starts.entries()) starts[group + at] = keys + start;
    const added = made.entries.length / ENTRY_BYTES;
    if (keys + added > shape.keyCount) break;
    await writeAllAt(file, made.entries, SEALED_HEADER_BYTES + keys * ENTRY_BYTES);
    await writeAllAt(file, made.groups, groupOffset(shape, group, keys));
    entriesCrc = crc32(made.entries, entriesCrc);
    keys += added;
    if (keys < shape.keyCount) await syncOnce(path, () => file.datasync());
  }
  if (keys === shape.keyCount) return { starts, entriesCrc };
  throw new Defect(`${path} gets other keys than the ${shape.keyCount} that were counted.`);
}

/** Ranges of whole groups, of a power of two of buckets. */
function* rangesOf({ keyCount, bucketBits }: SealedShape): Generator<BucketRange> {
  const turns = 2 ** Math.min(bucketBits - 8, Math.ceil(Math.log2(Math.max(1, keyCount / TURN_KEYS))));
  const buckets = 2 ** bucketBits / turns;
  for (let turn = 0; turn < turns; turn++) yield { first: turn * buckets, end: (turn + 1) * buckets };
}

interface Made {
  /** Of each group, and behind the last; counted from the first key of the range. Valid in this turn. */
  starts: Uint32Array;
  entries: Buffer;
  groups: Buffer;
}

/** Memory of a file that is being made, used again in each turn: new memory costs more than copying to it. */
interface Room {
  entries: Buffer;
  groups: Buffer;
}

const EMPTY = Buffer.alloc(0);

/** Copies entries and groups: others use the mill in the next turn. `starts` is valid in this one. */
function takeGroups(memory: KeyMemory, shape: SealedShape, { first, end }: BucketRange, room: Room): Made {
  const { wasm } = memory;
  const count = (end - first) >> shape.lowBits;
  const bytes = wasm.group(first, shape.lowBits, count, shape.isWide ? 1 : 0);
  const startsAt = wasm.startsAt() / 4;
  const starts = memory.words.subarray(startsAt, startsAt + count + 1);
  const groups = copy(memory, { at: wasm.packedAt(), length: bytes, into: 'groups' }, room);
  setChecksums(groups, starts, recordBytes(shape));
  const length = (starts[count] ?? 0) * ENTRY_BYTES;
  return { starts, groups, entries: copy(memory, { at: wasm.entriesAt(), length, into: 'entries' }, room) };
}

function copy(
  memory: KeyMemory,
  { at, length, into }: { at: number; length: number; into: keyof Room },
  room: Room,
): Buffer {
  if (room[into].length < length) room[into] = Buffer.allocUnsafeSlow(Math.ceil(length * 1.1));
  memory.bytes.copy(room[into], 0, at, at + length);
  return room[into].subarray(0, length);
}

function setChecksums(groups: Buffer, starts: Uint32Array, size: number): void {
  for (let group = 0, at = 0; group + 1 < starts.length; group++) {
    const end = at + CRC_BYTES + ((starts[group + 1] ?? 0) - (starts[group] ?? 0)) * size;
    groups.writeUInt32LE(crc32(groups.subarray(at + CRC_BYTES, end)), at);
    at = end;
  }
}
