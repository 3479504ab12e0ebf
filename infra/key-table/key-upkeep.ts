import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { dataDirFault } from '../platform/data-dir.ts';
import { isDiskFull } from '../platform/disk-guard.ts';
import type { Generation, Generations } from './generations.ts';
import type { KeyFolder } from './key-folder.ts';
import { mergeFiles, nextMerge } from './merge-files.ts';
import { sealGeneration } from './seal-generation.ts';
import { keysFull, SMALL } from './sealed-files.ts';

export interface KeyUpkeepDeps {
  folder: KeyFolder;
  generations: Generations;
  log: Logger;
  /** A generation that is not full by then is sealed: it bounds what a start has to read from the log. */
  sealedAfterMs?: number | undefined;
  /** For how long room for a generation is waited for until `opened`. */
  openingWaitMs?: number;
}

const SEALED_AFTER_MS = 30_000;
/** Longer than a merge that makes room takes. */
const OPENING_WAIT_MS = 120_000;
const RETRY_MS = 1_000;

/** Seals generations and merges their files, after the responses; one of each at a time. */
export class KeyUpkeep {
  readonly #deps: KeyUpkeepDeps;
  readonly #stop = new AbortController();
  #sealing: Promise<void> | undefined;
  #merging: Promise<void> | undefined;
  #failure: Fatal | undefined;
  #isOpening = true;
  #sealedAtMs = performance.now();

  constructor(deps: KeyUpkeepDeps) {
    this.#deps = deps;
  }

  /** Usage is taken from now on: a full disk is waited for however long it takes, and new keys rejected. */
  opened(): void {
    this.#isOpening = false;
  }

  /** Something was confirmed. Throws Fatal `record_file_write_failed`, or what else ended the upkeep. */
  advance(): void {
    if (this.#failure) throw this.#failure;
    if (this.#sealing) return;
    const { generations, sealedAfterMs = SEALED_AFTER_MS } = this.#deps;
    const isOld = performance.now() - this.#sealedAtMs > sealedAfterMs;
    if (isOld && generations.isGrowing()) generations.freeze();
    if (generations.sealable()) this.#seal();
  }

  /** Ends it for what failed elsewhere: the next call throws this. */
  failWith(failure: Fatal): void {
    this.#failure ??= failure;
  }

  /** Returns when there is room for so many records, of one piece. Rejects as `advance`. */
  async waitForRoom(count: number): Promise<void> {
    while (!this.#deps.generations.makeRoom(count)) {
      this.advance();
      await (this.#sealing ?? delay(RETRY_MS));
    }
  }

  /**
   * Seals everything; all of it is confirmed. Merges have ended then too: a file that one of them still makes
   * is named by no manifest, and would be removed with what a crash left. Rejects as `advance`.
   */
  async sealNow(): Promise<void> {
    const { generations } = this.#deps;
    while (generations.isGrowing() || this.#sealing || generations.sealable()) {
      if (!this.#sealing && !generations.sealable()) generations.freeze();
      this.advance();
      await this.#sealing;
    }
    await this.#merging;
    if (this.#failure) throw this.#failure;
  }

  /** Merges what is ready for it, in the background. */
  merge(): void {
    this.#merging ??= this.#mergeAll()
      .catch((error: unknown) => this.#giveUp(error))
      .finally(() => {
        this.#merging = undefined;
      });
  }

  /** Seals what is confirmed. What a full disk does not take, the next start reads from the log. */
  async finish(): Promise<void> {
    const { generations } = this.#deps;
    this.#stop.abort();
    await this.#sealing;
    if (generations.isGrowing()) generations.freeze();
    if (!this.#failure && generations.sealable()) this.#seal();
    await this.#sealing;
    await this.#merging;
    if (this.#failure) throw this.#failure;
  }

  #seal(): void {
    this.#sealing = this.#sealAll()
      .catch((error: unknown) => this.#giveUp(error))
      .finally(() => {
        this.#sealing = undefined;
      });
  }

  /**
   * Oldest first. A full disk is waited for; meanwhile claims find no room at some time. A start that waits
   * for long throws Fatal `disk_full` or `keys_full`.
   */
  async #sealAll(): Promise<void> {
    const { generations, log, folder, openingWaitMs = OPENING_WAIT_MS } = this.#deps;
    for (let next = generations.sealable(); next; next = generations.sealable()) {
      const number = folder.newNumber();
      const sinceMs = performance.now();
      for (let lacking = await this.#trySealing(next, number); lacking; ) {
        log.warn({ reason: lacking.message }, 'the newest keys wait for space on the disk, or for a merge');
        // mutant: start-waits-for-room-forever
        if (this.#isOpening && performance.now() - sinceMs > openingWaitMs) throw noRoom(folder, lacking);
        this.merge();
        if (this.#stop.signal.aborted) return;
        await delay(RETRY_MS, undefined, { signal: this.#stop.signal }).catch(() => undefined);
        lacking = await this.#trySealing(next, number);
      }
      this.#sealedAtMs = performance.now();
      this.merge();
    }
  }

  /** Each try has the same number. Returns why there is no room. */
  async #trySealing(generation: Generation, number: number): Promise<Error | undefined> {
    const { generations, folder } = this.#deps;
    const { logPosition = 0 } = generation;
    try {
      // Before anything is written: the merge that makes room may take long.
      if (!folder.files.hasRoom(SMALL, folder.memory.generationKeys)) return keysFull();
      const file = await sealGeneration(folder, folder.memory, generation.number, number);
      // mutant: sealed-generation-forgotten
      await folder.add(SMALL, file, (now) => {
        const position = Math.max(now.logPosition, logPosition);
        return { ...now, small: [...now.small, file.number], logPosition: position };
      });
      generations.sealed(generation);
      return undefined;
    } catch (error) {
      if (isPassing(error)) return error as Error;
      throw error;
    }
  }

  async #mergeAll(): Promise<void> {
    const { folder, log } = this.#deps;
    const { signal } = this.#stop;
    while (!signal.aborted && !this.#failure) {
      const merge = nextMerge(folder.files, folder.memory.generationKeys);
      if (!merge) return;
      if (await mergeFiles(folder, merge, signal)) continue;
      log.warn('no space to merge files of keys');
      return;
    }
  }

  #giveUp(error: unknown): void {
    if (error === this.#stop.signal.reason) return;
    // Of a merge: the next seal tries again.
    if (error instanceof Transient) this.#deps.log.error({ err: error }, 'no room to merge files of keys');
    else if (isPassing(error)) this.#deps.log.warn({ err: error }, 'no space to merge files of keys');
    else this.failWith(error instanceof Fatal ? error : unwritable(this.#deps.folder.directory, error));
  }
}

/** A full disk, or an index without room for now. */
function isPassing(error: unknown): boolean {
  return error instanceof Transient || isDiskFull(error);
}

function noRoom({ directory }: KeyFolder, lacking: Error): unknown {
  if (isDiskFull(lacking)) return dataDirFault(lacking, directory);
  return new Fatal('keys_full', keysFull().message, { cause: lacking });
}

function unwritable(directory: string, cause: unknown): Fatal {
  return new Fatal('record_file_write_failed', `${directory} cannot be written.`, { cause });
}
