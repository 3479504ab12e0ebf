import { Fatal, Transient } from '../../schemas/failures.ts';
import { createFairLines, type FairLines } from '../platform/fair-lines.ts';
import { createFairShares, type FairShares } from '../platform/fair-shares.ts';
import { type GroupPlace, readAt } from './sealed-file.ts';

export interface ColdReadsOptions {
  /** For the turn of a request; nothing is read for one that is given up then. */
  waitMs?: number;
  /** For its reads, once its turn has come. */
  timeoutMs?: number;
  /** That are read for a tenant while others wait, or those of one request. */
  turnGroups?: number;
  /** Groups that wait or are being read, and 100 more for each of their requests. */
  waitingMax?: number;
  /** Of the groups that were read last. */
  keptBytesMax?: number;
}

const WAIT_MS = 2_500;
/** About those of the largest request. */
const TURN_GROUPS = 500;
/** No disk that is in order takes so long for one request. */
const TIMEOUT_MS = 5_000;
/** 990 requests of a key each, or 166 of 500: more than a good disk reads while they wait. */
const WAITING_MAX = 100_000;
/** What else is held for a request is about what 100 groups take that wait. */
const REQUEST_WEIGHT = 100;
/** The groups of several of the largest requests: one of 500 keys reads 2 MB, 3 at most. */
const KEPT_BYTES_MAX = 8 * 1024 * 1024;
/** Of the four threads on which this process reads and writes files. */
const READS_AT_ONCE = 2;

/**
 * Groups of sealed files that are read outside the turn of a decision, those of one request after those of
 * another; tenants take turns. A disk that hangs costs the requests that need it a 503, and no other one
 * anything.
 */
export class ColdReads {
  readonly #timeoutMs: number;
  readonly #keptBytesMax: number;
  /** One that was given up counts until its reads have ended: so it is bounded what they hold. */
  readonly #held: FairShares;
  readonly #lines: FairLines;
  readonly #inTime = new Set<AbortController>();
  readonly #kept = new Map<string, Buffer>();
  #keptBytes = 0;
  #isReading = false;
  #isStopped = false;

  constructor(options: ColdReadsOptions = {}) {
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#keptBytesMax = options.keptBytesMax ?? KEPT_BYTES_MAX;
    this.#held = createFairShares(options.waitingMax ?? WAITING_MAX);
    this.#lines = createFairLines(options.waitMs ?? WAIT_MS, options.turnGroups ?? TURN_GROUPS);
  }

  /** What was read a short time ago. */
  kept(place: GroupPlace): Buffer | undefined {
    return this.#kept.get(nameOf(place));
  }

  /**
   * Reads groups, distinct or not, for `tenant`: of those that wait, none has more than it leaves free to
   * others. All of them are kept when it resolves, also those that were before, but for those of closed
   * files. Rejects with Transient `keys_unread`, or Fatal `record_file_unreadable` or
   * `record_file_truncated`.
   */
  async read(places: readonly GroupPlace[], tenant: string): Promise<void> {
    if (this.#isStopped) throw unread('this process ends');
    const groups = distinct(places);
    const weight = REQUEST_WEIGHT + groups.length;
    if (!this.#held.take(tenant, weight)) throw unread('too many requests wait for that');
    const inTime = new AbortController();
    this.#inTime.add(inTime);
    const givenUp = new Promise<never>((_, reject) => {
      inTime.signal.addEventListener('abort', () => reject(inTime.signal.reason), { once: true });
    });
    const reading = this.#readInTurn(groups, tenant, inTime).finally(() => this.#held.give(tenant, weight));
    try {
      await Promise.race([reading, givenUp]);
    } finally {
      this.#inTime.delete(inTime);
      inTime.abort();
    }
  }

  /** Ends what waits, and whatever comes, with `keys_unread`: nothing is decided any more. */
  stop(): void {
    this.#isStopped = true;
    for (const inTime of this.#inTime) inTime.abort(unread('this process ends'));
  }

  /** The time of its reads begins with them: what others have to be read for does not use it up. */
  async #readInTurn(groups: GroupPlace[], tenant: string, inTime: AbortController): Promise<void> {
    const { signal } = inTime;
    const isAdmitted = !this.#isReading || (await this.#lines.turn(tenant, signal, groups.length));
    if (!isAdmitted) throw unread('too much waits for that');
    this.#isReading = true;
    // mutant: cold-reads-untimed
    const timer = setTimeout(() => inTime.abort(unread('the disk does not respond')), this.#timeoutMs);
    try {
      await this.#readAll(groups, signal);
    } finally {
      clearTimeout(timer);
      this.#isReading = false;
      this.#lines.admitNext(
        () => true,
        () => {
          this.#isReading = true;
        },
      );
    }
  }

  async #readAll(left: GroupPlace[], inTime: AbortSignal): Promise<void> {
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

function distinct(places: readonly GroupPlace[]): GroupPlace[] {
  return [...new Map(places.map((place) => [nameOf(place), place])).values()];
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
