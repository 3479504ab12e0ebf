import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { isDiskFull } from '../platform/disk-guard.ts';
import type { Generation, Generations } from './generations.ts';
import type { KeyFolder } from './key-folder.ts';
import { mergeFiles, nextMerge } from './merge-files.ts';
import { sealGeneration } from './seal-generation.ts';
import { SMALL } from './sealed-files.ts';

export interface KeyUpkeepDeps {
  folder: KeyFolder;
  generations: Generations;
  log: Logger;
  /** A generation that is not full by then is sealed: it bounds what a start has to read from the log. */
  sealedAfterMs?: number | undefined;
}

const SEALED_AFTER_MS = 30_000;
const RETRY_MS = 1_000;

/** Seals generations and merges their files, after the responses; one of each at a time. */
export class KeyUpkeep {
  readonly #deps: KeyUpkeepDeps;
  readonly #stop = new AbortController();
  #sealing: Promise<void> | undefined;
  #merging: Promise<void> | undefined;
  #failure: Fatal | undefined;
  #sealedAtMs = performance.now();

  constructor(deps: KeyUpkeepDeps) {
    this.#deps = deps;
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

  /** Oldest first. A full disk is waited for; meanwhile claims find no room at some time. */
  async #sealAll(): Promise<void> {
    const { generations, folder, log } = this.#deps;
    for (let next = generations.sealable(); next; next = generations.sealable()) {
      const number = folder.newNumber();
      while (!(await this.#trySealing(next, number))) {
        log.warn('the newest keys wait for space on the disk, or for a merge');
        this.merge();
        if (this.#stop.signal.aborted) return;
        await delay(RETRY_MS, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      }
      this.#sealedAtMs = performance.now();
      this.merge();
    }
  }

  /** Each try has the same number. */
  async #trySealing(generation: Generation, number: number): Promise<boolean> {
    const { generations, folder } = this.#deps;
    const { logPosition = 0 } = generation;
    try {
      // Before anything is written: the merge that makes room may take long.
      if (!folder.files.hasRoom(SMALL, folder.memory.generationKeys)) return false;
      const file = await sealGeneration(folder, folder.memory, generation.number, number);
      // mutant: sealed-generation-forgotten
      await folder.add(SMALL, file, (now) => {
        const position = Math.max(now.logPosition, logPosition);
        return { ...now, small: [...now.small, file.number], logPosition: position };
      });
      generations.sealed(generation);
      return true;
    } catch (error) {
      if (isPassing(error)) return false;
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
    if (isPassing(error)) this.#deps.log.warn({ err: error }, 'no space to merge files of keys');
    else this.#failure ??= error instanceof Fatal ? error : unwritable(this.#deps.folder.directory, error);
  }
}

/** A full disk, or an index without room for now. */
function isPassing(error: unknown): boolean {
  return error instanceof Transient || isDiskFull(error);
}

function unwritable(directory: string, cause: unknown): Fatal {
  return new Fatal('record_file_write_failed', `${directory} cannot be written.`, { cause });
}
