import { readdirSync, rmSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fatal } from '../../schemas/failures.ts';
import { createMutex } from '../platform/mutex.ts';
import type { OpenFile, RecordOwner } from './key-files.ts';
import type { KeyMemory } from './key-memory.ts';
import { type Manifest, writeManifest } from './manifest.ts';
import { type SealedFile, sealedNumber, sealedPath } from './sealed-file.ts';
import { type Kind, LARGE, type SealedFiles, SMALL } from './sealed-files.ts';

export interface KeyFolderParts {
  directory: string;
  owner: RecordOwner;
  memory: KeyMemory;
  files: SealedFiles;
  /** The newest one that is durable. */
  manifest: Manifest;
  openFile?: OpenFile | undefined;
  /** For tests of a full disk. */
  freeBytes?: ((directory: string) => Promise<number>) | undefined;
}

/** The sealed files of a folder, and the manifest that says which of them count. */
export class KeyFolder {
  readonly directory: string;
  readonly owner: RecordOwner;
  readonly memory: KeyMemory;
  readonly files: SealedFiles;
  readonly openFile: OpenFile;
  readonly #freeBytes: (directory: string) => Promise<number>;
  #manifest: Manifest;
  #nextNumber: number;
  /** What is to count later, all at once; see `holdBack`. */
  #heldBack: Manifest | undefined;
  readonly #writing = createMutex();
  readonly #indexing = [createMutex(), createMutex()] as const;

  constructor(parts: KeyFolderParts) {
    const { directory, owner, memory, files, manifest, openFile = open } = parts;
    this.#freeBytes = parts.freeBytes ?? freeBytes;
    this.directory = directory;
    this.owner = owner;
    this.memory = memory;
    this.files = files;
    this.openFile = openFile;
    this.#manifest = manifest;
    this.#nextNumber = manifest.nextNumber;
  }

  /** The newest one that is durable. */
  get manifest(): Manifest {
    return this.#manifest;
  }

  /** Whether a disk that shall not become full by it has room for so many bytes more. */
  async hasSpace(bytes: number): Promise<boolean> {
    return (await this.#freeBytes(this.directory)) >= bytes * FREE_SHARE_MIN;
  }

  newNumber(): number {
    return this.#nextNumber++;
  }

  /** From now on no change counts until `release`: a crash before it leaves what was there, whole. */
  holdBack(from: Manifest): void {
    this.#heldBack = from;
  }

  /** Makes everything since `holdBack` count, with `logPosition`. */
  async release(logPosition: number): Promise<void> {
    const held = this.#heldBack ?? this.#manifest;
    this.#heldBack = undefined;
    await this.change(() => ({ ...held, logPosition }));
    this.removeOthers();
  }

  /** Makes files count, or count no more; durable when it returns. */
  change(next: (now: Manifest) => Manifest): Promise<void> {
    return this.#writing(async () => {
      if (this.#heldBack) {
        this.#heldBack = next(this.#heldBack);
        return;
      }
      const manifest = {
        ...next(this.#manifest),
        sequence: this.#manifest.sequence + 1,
        nextNumber: this.#nextNumber,
      };
      await writeManifest(join(this.directory, MANIFEST), manifest, this.owner);
      this.#manifest = manifest;
    });
  }

  /**
   * Searches a new file from now on as well, and makes it count. One that finds no room, or cannot count, is
   * removed again. Throws Transient `keys_full`, and what `change` throws; after Fatal the file may count.
   */
  async add(kind: Kind, file: SealedFile, next: (now: Manifest) => Manifest): Promise<void> {
    await this.#search(kind, file);
    try {
      await this.change(next);
    } catch (error) {
      // Where the manifest is in its place, the next start needs what it names.
      if (!(error instanceof Fatal)) await this.discard(kind, [file]);
      throw error;
    }
  }

  async #search(kind: Kind, file: SealedFile): Promise<void> {
    try {
      await this.#indexing[kind](() => inTurns(this.files.add(kind, [file])));
    } catch (error) {
      await file.file.close();
      rmSync(file.path, { force: true });
      throw error;
    }
  }

  /**
   * Makes small files large ones, as they are. They are found all the time. Throws as `add`, and nothing has
   * changed then.
   */
  async moveToLarge(files: SealedFile[]): Promise<void> {
    await this.#indexing[LARGE](() => inTurns(this.files.add(LARGE, files)));
    const numbers = numbersOf(files);
    const isMoved = (number: number) => numbers.includes(number);
    try {
      // mutant: moved-files-forgotten
      await this.change((now) => ({
        ...now,
        small: now.small.filter((number) => !isMoved(number)),
        large: [...now.large, ...now.small.filter(isMoved)],
      }));
    } catch (error) {
      await this.#indexing[LARGE](() => inTurns(this.files.remove(LARGE, files)));
      throw error;
    }
    await this.#indexing[SMALL](() => inTurns(this.files.remove(SMALL, files)));
  }

  /** Removes files that count no more. */
  async discard(kind: Kind, files: SealedFile[]): Promise<void> {
    await this.#indexing[kind](() => inTurns(this.files.remove(kind, files)));
    for (const { file, path } of files) {
      await file.close();
      // What still counts until `release` stays as it is.
      if (!this.#heldBack) await rm(path, { force: true });
    }
  }

  /** Removes files that no manifest names: a crash left them, or what they were part of failed. */
  removeOthers(): void {
    const known = new Set([...this.#manifest.small, ...this.#manifest.large]);
    for (const number of sealedNumbers(this.directory)) {
      if (!known.has(number)) rmSync(sealedPath(this.directory, number), { force: true });
    }
    const left = this.#manifest.former ? ['.new'] : ['', '.new'];
    for (const end of left) rmSync(join(this.directory, `${FORMER_RECORDS}${end}`), { force: true });
  }
}

/** Of what is to be written. */
const FREE_SHARE_MIN = 2;

async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/** In the folder; under this name the release before had its checkpoint. */
export const MANIFEST = 'checkpoint';
/** Where the release before had its records. */
export const FORMER_RECORDS = 'records';

export function sealedNumbers(directory: string): number[] {
  return readdirSync(directory).flatMap((name) => sealedNumber(name) ?? []);
}

export function numbersOf(files: SealedFile[]): number[] {
  return files.map(({ number }) => number);
}

export function allNumbers({ small, large }: Manifest): Array<[Kind, number]> {
  return [
    ...small.map((one): [Kind, number] => [SMALL, one]),
    ...large.map((one): [Kind, number] => [LARGE, one]),
  ];
}

/** Requests are served in between. */
async function inTurns(work: Generator<void>): Promise<void> {
  for (const _ of work) await nextTurn();
}
