import { Fatal, Transient } from '../../schemas/failures.ts';
import { createFairShares, type FairShares } from '../platform/fair-shares.ts';
import { createMutex } from '../platform/mutex.ts';
import { type GroupPlace, readAt } from './sealed-file.ts';

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
/** The groups of several of the largest requests: one of 500 keys reads 2 MB, 3 at most. */
const KEPT_BYTES_MAX = 8 * 1024 * 1024;
/** Of the four threads on which this process reads and writes files. */
const READS_AT_ONCE = 2;

/**
 * Groups of sealed files that are read outside the turn of a decision, those of one request after those of
 * another. A disk that hangs costs the requests that need it a 503, and no other one anything.
 */
export class ColdReads {
  readonly #timeoutMs: number;
  readonly #keptBytesMax: number;
  /** One that was given up counts until its reads have ended: so it is bounded what they hold. */
  readonly #waiting: FairShares;
  readonly #oneAtATime = createMutex();
  readonly #inTime = new Set<AbortController>();
  readonly #kept = new Map<string, Buffer>();
  #keptBytes = 0;
  #isStopped = false;

  constructor(options: ColdReadsOptions = {}) {
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#keptBytesMax = options.keptBytesMax ?? KEPT_BYTES_MAX;
    this.#waiting = createFairShares(options.waitingMax ?? WAITING_MAX);
  }

  /** What was read a short time ago. */
  kept(place: GroupPlace): Buffer | undefined {
    return this.#kept.get(nameOf(place));
  }

  /**
   * Reads groups, distinct or not, for `tenant`: of the requests that wait none has more than it leaves free
   * to others. All of them are kept when it resolves, also those that were before, but for those of closed
   * files. Rejects with Transient `keys_unread`, or Fatal `record_file_unreadable` or
   * `record_file_truncated`.
   */
  async read(places: readonly GroupPlace[], tenant: string): Promise<void> {
    if (this.#isStopped) throw unread('this process ends');
    if (!this.#waiting.take(tenant, 1)) throw unread('too many requests wait for that');
    const inTime = new AbortController();
    this.#inTime.add(inTime);
    // mutant: cold-reads-untimed
    const timer = setTimeout(() => inTime.abort(unread('the disk does not respond')), this.#timeoutMs);
    const givenUp = new Promise<never>((_, reject) => {
      inTime.signal.addEventListener('abort', () => reject(inTime.signal.reason), { once: true });
    });
    const reading = this.#oneAtATime(() => this.#readAll(places, inTime.signal)).finally(() =>
      this.#waiting.give(tenant, 1),
    );
    try {
      await Promise.race([reading, givenUp]);
    } finally {
      clearTimeout(timer);
      this.#inTime.delete(inTime);
      inTime.abort();
    }
  }

  /** Ends what waits, and whatever comes, with `keys_unread`: nothing is decided any more. */
  stop(): void {
    this.#isStopped = true;
    for (const inTime of this.#inTime) inTime.abort(unread('this process ends'));
  }

  async #readAll(places: readonly GroupPlace[], inTime: AbortSignal): Promise<void> {
    const left = [...new Map(places.map((place) => [nameOf(place), place])).values()];
    const readNext = async (): Promise<void> => {
      for (let next = left.pop(); next && !inTime.aborted; next = left.pop()) await this.#readOne(next);
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, readNext));
  }

  async #readOne(place: GroupPlace): Promise<void> {
    const group = this.kept(place) ?? (await readGroup(place));
    if (!group) return;
    this.#keep(nameOf(place), group);
  }

  /** As the newest, so that what a request needs is there together. */
  #keep(name: string, group: Buffer): void {
    // mutant: groups-of-a-request-forgotten
    if (this.#kept.delete(name)) this.#keptBytes -= group.length;
    this.#kept.set(name, group);
    this.#keptBytes += group.length;
    for (const [name, { length }] of this.#kept) {
      if (this.#keptBytes <= this.#keptBytesMax) break;
      this.#kept.delete(name);
      this.#keptBytes -= length;
    }
  }
}

/** No number is given to files of different keys. */
function nameOf({ file, at }: GroupPlace): string {
  return `${file.number} ${at}`;
}

/** Undefined where a merge has closed the file: its keys are in another one. Reads that began end before. */
async function readGroup({ file, at, bytes }: GroupPlace): Promise<Buffer | undefined> {
  try {
    return await readAt(file, at, bytes);
  } catch (cause) {
    if (cause instanceof Fatal) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'EBADF') return undefined;
    throw new Fatal('record_file_unreadable', `${file.path} cannot be read.`, { cause });
  }
}

function unread(why: string): Transient {
  return new Transient('keys_unread', `Keys cannot be read from the disk just now: ${why}.`);
}
