import { Fatal, Transient } from '../../schemas/failures.ts';
import { createMutex } from '../platform/mutex.ts';
import { KeysToRead } from '../ports/idempotency-store.ts';
import { rejection } from './key-files.ts';
import type { SealedFile } from './sealed-file.ts';

/** A group of records in a sealed file. */
export interface GroupPlace {
  file: SealedFile;
  at: number;
  bytes: number;
}

export interface ColdReadsOptions {
  timeoutMs?: number;
  /** Requests whose groups wait or are being read. */
  waitingMax?: number;
  /** Of the groups that were read last. */
  keptBytesMax?: number;
}

/** No disk that is in order takes so long, whatever waits before. */
const TIMEOUT_MS = 5_000;
const WAITING_MAX = 1_000;
/** The groups of several of the largest requests. */
const KEPT_BYTES_MAX = 8 * 1024 * 1024;
/** Of the four threads on which this process reads and writes files. */
const READS_AT_ONCE = 2;

/**
 * Groups of sealed files that are read outside the turn of a decision, those of one request after those of
 * another. A disk that hangs costs the requests that need it a 503, and no other one anything.
 */
export class ColdReads {
  readonly #options: Required<ColdReadsOptions>;
  readonly #kept = new Map<string, Buffer>();
  readonly #oneAtATime = createMutex();
  #keptBytes = 0;
  #waiting = 0;

  constructor(options: ColdReadsOptions = {}) {
    const { timeoutMs = TIMEOUT_MS, waitingMax = WAITING_MAX, keptBytesMax = KEPT_BYTES_MAX } = options;
    this.#options = { timeoutMs, waitingMax, keptBytesMax };
  }

  /** What was read a short time ago. */
  kept(place: GroupPlace): Buffer | undefined {
    return this.#kept.get(nameOf(place));
  }

  /** What a claim throws that needs these groups, distinct or not. */
  later(places: readonly GroupPlace[]): Transient {
    if (this.#waiting >= this.#options.waitingMax) return unread('too many requests wait for that');
    const whenRead = this.#readInTime(places);
    whenRead.catch(() => undefined); // a caller that does not wait for it has failed already
    return new KeysToRead(whenRead);
  }

  async #readInTime(places: readonly GroupPlace[]): Promise<void> {
    this.#waiting += 1;
    const late = new AbortController();
    const reading = this.#oneAtATime(() => this.#readAll(places, late.signal)).finally(() => {
      this.#waiting -= 1;
    });
    const timer = setTimeout(() => late.abort(unread('the disk does not respond')), this.#options.timeoutMs);
    const isLate = new Promise<never>((_, reject) => {
      late.signal.addEventListener('abort', () => reject(late.signal.reason), { once: true });
    });
    await Promise.race([reading, isLate]).finally(() => clearTimeout(timer));
  }

  async #readAll(places: readonly GroupPlace[], late: AbortSignal): Promise<void> {
    const left = [...new Map(places.map((place) => [nameOf(place), place])).values()];
    const readNext = async (): Promise<void> => {
      for (let next = left.pop(); next && !late.aborted; next = left.pop()) await this.#read(next);
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, readNext));
  }

  async #read(place: GroupPlace): Promise<void> {
    if (this.kept(place)) return;
    const group = await readGroup(place);
    if (!group) return;
    this.#kept.set(nameOf(place), group);
    this.#keptBytes += group.length;
    for (const [name, { length }] of this.#kept) {
      if (this.#keptBytes <= this.#options.keptBytesMax) break;
      this.#kept.delete(name);
      this.#keptBytes -= length;
    }
  }
}

/** No number is given to two files of one process. */
function nameOf({ file, at }: GroupPlace): string {
  return `${file.number} ${at}`;
}

/** Undefined where a merge has closed the file: its keys are in another one. Throws Fatal. */
async function readGroup({ file: { file, path }, at, bytes }: GroupPlace): Promise<Buffer | undefined> {
  const into = Buffer.allocUnsafe(bytes);
  try {
    for (let filled = 0; filled < bytes; ) {
      const { bytesRead } = await file.read(into, filled, bytes - filled, at + filled);
      if (bytesRead === 0) throw rejection('record_file_truncated', path, 'has become shorter');
      filled += bytesRead;
    }
    return into;
  } catch (cause) {
    if (cause instanceof Fatal) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'EBADF') return undefined;
    throw new Fatal('record_file_unreadable', `${path} cannot be read.`, { cause });
  }
}

function unread(why: string): Transient {
  return new Transient('keys_unread', `Keys cannot be read from the disk just now: ${why}.`);
}
