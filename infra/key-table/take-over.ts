import { rmSync } from 'node:fs';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';
import { RECORD_BYTES, RECORD_WORDS } from '../../schemas/stored/record.ts';
import type { FormerKeys } from './former-keys.ts';
import { recordsBetween } from './former-record-file.ts';
import { pieceLength } from './generations.ts';
import type { KeyFolder } from './key-folder.ts';
import { KeyMemory } from './key-memory.ts';
import type { KeyUpkeep } from './key-upkeep.ts';
import { sealGeneration } from './seal-generation.ts';
import { SMALL } from './sealed-files.ts';

/** Moves the keys of the release before into sealed files, a generation at a time, while usage is taken. */
export interface TakingOver {
  /** Those keys, as long as some are in no sealed file. */
  former(): FormerKeys | undefined;
  /** What is Fatal ends the upkeep, and so the process. */
  start(): void;
  /** Waits for the part in progress. The next start goes on. */
  stop(): Promise<void>;
}

export interface TakingOverDeps {
  folder: KeyFolder;
  upkeep: KeyUpkeep;
  former: FormerKeys | undefined;
  log: Logger;
}

const RETRY_MS = 1_000;
/** Generations that the small files have to have room for: half of it, so that newer keys find room. */
const ROOM_GENERATIONS = 32;

export function takeOver({ folder, upkeep, former: found, log }: TakingOverDeps): TakingOver {
  let former = found;
  let running: Promise<void> | undefined;
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(keys: FormerKeys): Promise<void> {
    log.info({ path: keys.file.path, keys: keys.count }, 'keys of the release before are taken over');
    const memory = new KeyMemory(folder.memory.generationKeys);
    let hasWarned = false;
    while (folder.manifest.former && !signal.aborted) {
      try {
        const hasSpace = await hasSpaceForAll(folder);
        if (hasSpace && folder.files.hasRoom(SMALL, ROOM_GENERATIONS * folder.memory.generationKeys)) {
          await takePart(folder, memory, keys);
          upkeep.merge();
          continue;
        }
        if (!hasSpace && !hasWarned) log.warn('keys of the release before wait for space on the disk');
        hasWarned ||= !hasSpace;
      } catch (error) {
        if (error instanceof Fatal) throw error;
        log.warn({ err: error }, 'keys of the release before cannot be taken over just now');
      }
      await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
    if (folder.manifest.former) return;
    former = undefined;
    await keys.file.file.close();
    rmSync(keys.file.path, { force: true });
    log.info('all keys of the release before are taken over');
  }

  return {
    former: () => former,
    start() {
      if (!former) return;
      running = run(former).catch((error: unknown) => {
        log.error({ err: error }, 'keys are not taken over');
        // mutant: take-over-failed-unnoticed
        if (error instanceof Fatal) upkeep.failWith(error);
      });
    },
    async stop() {
      stopping.abort();
      await running;
      await former?.file.file.close();
    },
  };
}

/**
 * Their file stays until all of them are taken. A disk that is full by what is half done would reject usage,
 * and nothing would end that.
 */
async function hasSpaceForAll(folder: KeyFolder): Promise<boolean> {
  const { recordCount = 0, taken = 0 } = folder.manifest.former ?? {};
  return await folder.hasSpace((recordCount - taken) * RECORD_BYTES);
}

/**
 * As many records as a generation has, or what is left. They count in their file as soon as it is durable.
 */
async function takePart(folder: KeyFolder, memory: KeyMemory, { file }: FormerKeys): Promise<void> {
  const { former } = folder.manifest;
  if (!former) return;
  const taken = Math.min(former.recordCount, former.taken + folder.memory.generationKeys);
  memory.wasm.beginGeneration(0, 0);
  memory.wasm.search(0, 0, 0);
  let { takenCrc } = former;
  for await (const words of recordsBetween(file, former.taken, taken)) {
    takenCrc = crc32(new Uint8Array(words.buffer, 0, words.byteLength), takenCrc);
    await addTo(memory, words);
  }
  const sealed = await sealGeneration(folder, memory, 0, folder.newNumber());
  // mutant: former-keys-counted-as-taken
  const left = taken < former.recordCount ? { ...former, taken, takenCrc } : undefined;
  await folder.add(SMALL, sealed, ({ former: _, ...now }) => ({
    ...now,
    small: [...now.small, sealed.number],
    ...(left && { former: left }),
  }));
}

async function addTo(memory: KeyMemory, words: Uint32Array): Promise<void> {
  const length = pieceLength(memory) * RECORD_WORDS;
  for (let at = 0, turn = 0; at < words.length; at += length, turn++) {
    const piece = words.subarray(at, at + length);
    memory.words.set(piece, memory.at.STAGE / 4);
    memory.wasm.addAll(piece.length / RECORD_WORDS);
    if (turn % 32 === 31) await nextTurn();
  }
}
