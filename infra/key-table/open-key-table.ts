import { mkdirSync } from 'node:fs';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';
import { decodeFrame } from '../../schemas/stored/frame.ts';
import type { EventLogReader } from '../ports/event-log.ts';
import { type AddingDeps, addEarlierRecords, addRecords } from './add-records.ts';
import { Generations } from './generations.ts';
import { KeyFolder } from './key-folder.ts';
import { KeyMemory } from './key-memory.ts';
import { createKeyTable, type KeyTable } from './key-table.ts';
import { KeyUpkeep } from './key-upkeep.ts';
import { closeStored, openStoredKeys, type StoredKeys } from './open-stored-keys.ts';
import { takeOver } from './take-over.ts';

export interface KeyTableOptions {
  directory: string;
  /** 16 bytes that distinguish one identity key from another. */
  identityCheck: Uint8Array;
  /** The log whose view this is. Read up to its durable end while opening, never after. */
  logReader: EventLogReader;
  /**
   * Records of all events on the log before this position, for keys that the log alone does not give back.
   * Records behind it may be among them. Throws, at its end at the latest, when something is missing. Without
   * this function such keys are rejected.
   */
  earlierRecords?: (before: number) => AsyncIterable<Uint8Array>;
  log: Logger;
  /** How many keys are in one file before it is merged; a power of two, 128 at least. */
  generationKeys?: number;
  /** After so long a generation is sealed that is not full. */
  sealedAfterMs?: number;
}

/** 15 MB of RAM each. A start reads no more of them from the log than the four that may be unsealed. */
export const GENERATION_KEYS = 262_144;
const REPLAY_BYTES = 8 * 1024 * 1024;

/**
 * Opens the keys and brings them up to the log: what is sealed from its files, the log from there on;
 * everything from the log where there are no files; the part of it that the log no longer holds from
 * `earlierRecords`. Files that cannot be trusted are rejected with Fatal (`record_file_truncated`,
 * `record_file_damaged`, `record_file_newer`, `record_file_foreign`, `identity_key_mismatch`,
 * `log_behind_keys`, `keys_missing`), and nothing is changed then. Throws Fatal `disk_full` or `keys_full`
 * when there is no room for what is brought up.
 */
export async function openKeyTable(options: KeyTableOptions): Promise<KeyTable> {
  const { directory, logReader, identityCheck, log, generationKeys = GENERATION_KEYS } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const owner = { identityCheck, logId: logReader.logId };
  const memory = new KeyMemory(generationKeys);
  const stored = await openStoredKeys({ directory, owner, memory, logReader, log });
  try {
    const { files, former, known } = stored;
    await checkLogReaches(logReader, known.logPosition);
    const folder = new KeyFolder({ directory, owner, memory, files, manifest: stored.durable });
    const generations = new Generations(memory, stored.keyCount);
    const { sealedAfterMs } = options;
    const upkeep = new KeyUpkeep({ folder, generations, log, sealedAfterMs });
    const takingOver = takeOver({ folder, upkeep, former, log });
    const deps = { folder, generations, upkeep, takingOver };
    try {
      const logPosition = await closeGap(stored, options, deps);
      // mutant: keys-not-brought-up-to-the-log
      await replayLog(logReader, logPosition, deps);
    } catch (error) {
      await upkeep.finish().catch(() => undefined);
      throw error;
    }
    upkeep.opened();
    upkeep.merge();
    takingOver.start();
    return createKeyTable(deps);
  } catch (error) {
    await closeStored(stored);
    throw error;
  }
}

async function checkLogReaches(logReader: EventLogReader, logPosition: number): Promise<void> {
  const end = await logReader.durableEnd(0);
  if (end >= logPosition) return;
  throw new Fatal(
    'log_behind_keys',
    `The log ends at ${end}, the keys were made from it up to ${logPosition}: restore the log.`,
  );
}

/**
 * Where the log begins behind the end of the keys, the rest comes from elsewhere: with a gap in the keys,
 * events would be counted again. Until all of it is here the old files count, and could still be put back.
 * Returns the position behind which the log has everything.
 */
async function closeGap(
  { known, isNew, isRenewed }: StoredKeys,
  { logReader, earlierRecords, log }: KeyTableOptions,
  deps: AddingDeps,
): Promise<number> {
  const { folder, generations } = deps;
  const start = await logReader.start(0);
  const { logPosition } = known;
  // mutant: keys-of-what-is-left-of-the-log
  const hasGap = logPosition < start;
  if (!hasGap && !isRenewed) {
    folder.removeOthers();
    return logPosition;
  }
  // Files without any manifest would be taken for the last copy of their keys.
  if (hasGap && isNew) await folder.change((now) => now);
  folder.holdBack(known);
  if (hasGap) {
    if (!earlierRecords) {
      throw new Fatal('keys_missing', `The log begins at ${start}, behind what the keys were made from.`);
    }
    const before = generations.next;
    log.warn({ known: before, start }, 'keys are missing that the log no longer holds: requesting them');
    await addEarlierRecords(earlierRecords(start), deps);
    log.warn({ found: generations.next - before }, 'the missing keys are here');
  }
  await folder.release(Math.max(logPosition, hasGap ? start : 0));
  return folder.manifest.logPosition;
}

async function replayLog(logReader: EventLogReader, from: number, deps: AddingDeps): Promise<void> {
  const { generations, upkeep } = deps;
  for (let position = from; ; ) {
    const frames = await logReader.read(0, position, REPLAY_BYTES);
    for (const { bytes, next } of frames) {
      await addRecords(decodeFrame(bytes).records, deps);
      generations.confirm(generations.next, next);
      upkeep.advance();
    }
    const last = frames.at(-1);
    if (!last) return;
    position = last.next;
  }
}
