import { Transient } from '../../schemas/failures.ts';
import { type KeyFolder, numbersOf } from './key-folder.ts';
import {
  CRC_BYTES,
  checkGroup,
  ENTRY_BYTES,
  groupOffset,
  readAt,
  recordBytes,
  SEALED_HEADER_BYTES,
  type SealedFile,
  sealedBytes,
  shapeOf,
} from './sealed-file.ts';
import { type BucketRange, type Collect, writeSealedFile } from './sealed-file-writer.ts';
import { type Kind, keysFull, LARGE, type SealedFiles, SMALL } from './sealed-files.ts';

/** So many become one. */
const MERGED = 16;
/** As shares of a generation: a small file of fewer keys is of this size or of one before it. */
const SIZES = { few: 1 / 32, some: 1 / 2 };
/**
 * So many move at once, at least, or fewer that have the keys of so many generations, which is an eighth of
 * what the small index has room for. More than the most would be a turn with too many reads.
 */
const MOVED = { min: 8, max: 32 };
/** An index has room for 256. */
const LARGE_FILES_MAX = 192;

/** What is to be done next with files, if anything. */
export type NextMerge = { files: SealedFile[]; from: Kind } & (
  | { makes: 'one file'; into: Kind }
  | { makes: 'large files' }
);

/**
 * Sixteen files of few keys become one, which is small, and so do sixteen of some keys, which is large. What
 * has half a generation or more becomes large as it is: its keys are not written again. Only where there are
 * many large files do those of the fewest keys become one.
 */
export function nextMerge(files: SealedFiles, generationKeys: number): NextMerge | undefined {
  const small = files.of(SMALL);
  const few = small.filter(({ shape }) => shape.keyCount < SIZES.few * generationKeys);
  if (few.length >= MERGED) return mergeOf(SMALL, few, SMALL);
  const whole = small.filter(({ shape }) => shape.keyCount >= SIZES.some * generationKeys);
  const moved = whole.slice(0, MOVED.max);
  const areMany = moved.length >= MOVED.min || keysOf(moved) >= MOVED.min * generationKeys;
  const large = files.of(LARGE);
  const needsMerge = large.length > LARGE_FILES_MAX;
  // One place more than they take: without it no merge of large files has room any more.
  const haveRoom = () => files.hasRoom(LARGE, keysOf(moved), moved.length + 1);
  if (areMany && (!needsMerge || haveRoom())) return { files: moved, from: SMALL, makes: 'large files' };
  if (needsMerge) return mergeOf(LARGE, large, LARGE);
  const some = small.filter((file) => !few.includes(file) && !whole.includes(file));
  return some.length >= MERGED ? mergeOf(SMALL, some, LARGE) : undefined;
}

function mergeOf(from: Kind, files: SealedFile[], into: Kind): NextMerge {
  const byKeys = files.toSorted((a, b) => a.shape.keyCount - b.shape.keyCount);
  return { files: byKeys.slice(0, MERGED), from, makes: 'one file', into };
}

/**
 * Does it, and makes the result count in place of what was there. Returns false, and changes nothing, where
 * the disk lacks room. Throws what `signal` says when that ends it, and Transient `keys_full`.
 */
export async function mergeFiles(folder: KeyFolder, merge: NextMerge, signal: AbortSignal): Promise<boolean> {
  if (merge.makes === 'one file') return await makeOne(folder, merge, signal);
  const { files } = merge;
  // mutant: limit-of-keys-unnamed
  if (!folder.files.hasRoom(LARGE, keysOf(files), files.length)) throw asManyAsMayBe(folder);
  await folder.moveToLarge(files);
  return true;
}

async function makeOne(
  folder: KeyFolder,
  { files: merged, from, into }: { files: SealedFile[]; from: Kind; into: Kind },
  signal: AbortSignal,
): Promise<boolean> {
  const { directory, owner, openFile, memory } = folder;
  const keyCount = keysOf(merged);
  const isWide = merged.some(({ shape }) => shape.isWide);
  const shape = shapeOf(keyCount, memory.bucketBits, isWide);
  if (!folder.files.hasRoom(into, keyCount)) throw into === LARGE ? asManyAsMayBe(folder) : keysFull();
  if (!(await folder.hasSpace(sealedBytes(shape)))) return false;
  const wanted = { directory, owner, openFile, number: folder.newNumber(), shape };
  const file = await writeSealedFile(memory, wanted, collectFrom(folder, merged, signal));
  const gone = new Set(numbersOf(merged));
  // mutant: merged-file-forgotten
  await folder.add(into, file, (now) => {
    const small = now.small.filter((number) => !gone.has(number));
    const large = now.large.filter((number) => !gone.has(number));
    return into === SMALL
      ? { ...now, large, small: [...small, file.number] }
      : { ...now, small, large: [...large, file.number] };
  });
  await folder.discard(from, merged);
  return true;
}

function asManyAsMayBe({ files }: KeyFolder): Transient {
  return new Transient(
    'keys_full',
    `The ${keysOf(files.of(LARGE))} idempotency keys in large files are as many as an installation may ` +
      'have. Usage with new keys is rejected once the files of the newest have no room either: ' +
      'docs/operate/sizing.md.',
  );
}

function keysOf(files: SealedFile[]): number {
  return files.reduce((sum, { shape }) => sum + shape.keyCount, 0);
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
