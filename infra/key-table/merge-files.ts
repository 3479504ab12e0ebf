import { Transient } from '../../schemas/failures.ts';
import { rejection } from './key-files.ts';
import { type KeyFolder, numbersOf } from './key-folder.ts';
import {
  CRC_BYTES,
  checkGroup,
  ENTRY_BYTES,
  groupOffset,
  recordBytes,
  SEALED_HEADER_BYTES,
  type SealedFile,
  sealedBytes,
  shapeOf,
} from './sealed-file.ts';
import { type BucketRange, type Collect, writeSealedFile } from './sealed-file-writer.ts';
import { LARGE, SMALL } from './sealed-files.ts';

/** So many of about one size become one; fewer, where they have the keys of so many generations. */
const MERGED = 16;
/**
 * As shares of a generation: a file of fewer keys is smaller than one of more. From the last on it is large.
 */
const SIZES = [1 / 32, 1 / 2, MERGED / 2];

/** Small files that are to be merged now, those of the fewest keys first. */
export function filesToMerge(small: SealedFile[], generationKeys: number): SealedFile[] | undefined {
  const sizeOf = ({ shape }: SealedFile) =>
    SIZES.findIndex((share) => shape.keyCount < share * generationKeys);
  for (const size of SIZES.keys()) {
    const alike = small.filter((file) => sizeOf(file) === size);
    const keyCount = alike.reduce((sum, { shape }) => sum + shape.keyCount, 0);
    const isMuch = keyCount >= MERGED * generationKeys;
    if (isMuch || alike.length >= MERGED) return alike.slice(0, MERGED);
  }
  return undefined;
}

/**
 * Puts files into one and makes it count in their place. Returns false, and changes nothing, where the disk
 * lacks room. Throws what `signal` says when that ends it, and Transient `keys_full`.
 */
export async function mergeFiles(
  folder: KeyFolder,
  merged: SealedFile[],
  signal: AbortSignal,
): Promise<boolean> {
  const { directory, owner, openFile, memory } = folder;
  const keyCount = merged.reduce((sum, { shape }) => sum + shape.keyCount, 0);
  const isWide = merged.some(({ shape }) => shape.isWide);
  const shape = shapeOf(keyCount, memory.bucketBits, isWide);
  const kind = keyCount >= (SIZES.at(-1) ?? 0) * memory.generationKeys ? LARGE : SMALL;
  // mutant: limit-of-keys-unnamed
  if (!folder.files.hasRoom(kind, keyCount)) throw asManyAsMayBe(folder);
  if (!(await folder.hasSpace(sealedBytes(shape)))) return false;
  const wanted = { directory, owner, openFile, number: folder.newNumber(), shape };
  const file = await writeSealedFile(memory, wanted, collectFrom(folder, merged, signal));
  const gone = new Set(numbersOf(merged));
  // mutant: merged-file-forgotten
  await folder.add(kind, file, (now) => ({
    ...now,
    small: [...now.small.filter((number) => !gone.has(number)), ...(kind === SMALL ? [file.number] : [])],
    large: kind === LARGE ? [...now.large, file.number] : now.large,
  }));
  await folder.discard(SMALL, merged);
  return true;
}

function asManyAsMayBe({ files }: KeyFolder): Transient {
  const keyCount = files.of(LARGE).reduce((sum, { shape }) => sum + shape.keyCount, 0);
  return new Transient(
    'keys_full',
    `The ${keyCount} idempotency keys in large files are as many as an installation may have. Usage with ` +
      'new keys is rejected once the files of the newest have no room either: docs/operate/sizing.md.',
  );
}

interface Slice {
  file: SealedFile;
  starts: Uint32Array;
  entries: Buffer;
  groups: Buffer;
}

function collectFrom({ memory }: KeyFolder, files: SealedFile[], signal: AbortSignal): Collect {
  let slices: Slice[] = [];
  return {
    async read(range) {
      signal.throwIfAborted();
      slices = await Promise.all(files.map((file) => readSlice(file, range)));
    },
    fill({ first }) {
      const input = memory.beginMill();
      for (const { file, starts, entries, groups } of slices) {
        const { lowBits, isWide } = file.shape;
        const { bytes, words } = memory;
        words.set(starts, input / 4);
        bytes.set(entries, input + starts.byteLength);
        bytes.set(groups, input + starts.byteLength + entries.length);
        memory.wasm.unpack(first, lowBits, starts.length - 1, input, isWide ? 1 : 0);
      }
    },
  };
}

async function readSlice(file: SealedFile, { first, end }: BucketRange): Promise<Slice> {
  const { shape } = file;
  const [group, groupEnd] = [first >> shape.lowBits, end >> shape.lowBits];
  const starts = file.starts.subarray(group, groupEnd + 1);
  const [from = 0, to = 0] = [starts[0], starts.at(-1)];
  const entries = await readAt(file, SEALED_HEADER_BYTES + from * ENTRY_BYTES, (to - from) * ENTRY_BYTES);
  const groupsAt = groupOffset(shape, group, from);
  const groups = await readAt(file, groupsAt, groupOffset(shape, groupEnd, to) - groupsAt);
  for (let nth = 0, at = 0; nth + 1 < starts.length; nth++) {
    const size = CRC_BYTES + ((starts[nth + 1] ?? 0) - (starts[nth] ?? 0)) * recordBytes(shape);
    checkGroup(file.path, groups.subarray(at, at + size));
    at += size;
  }
  return { file, starts, entries, groups };
}

async function readAt({ file, path }: SealedFile, at: number, length: number): Promise<Buffer> {
  const into = Buffer.allocUnsafe(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(into, filled, length - filled, at + filled);
    if (bytesRead === 0) throw rejection('record_file_truncated', path, 'has become shorter');
    filled += bytesRead;
  }
  return into;
}
