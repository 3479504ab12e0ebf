import type { Transient } from '../../schemas/failures.ts';
import { RECORD_WORDS } from '../../schemas/stored/record.ts';
import type { ColdReads, GroupPlace } from './cold-reads.ts';
import type { FindOld } from './generations.ts';
import type { KeyFolder } from './key-folder.ts';
import type { TakingOver } from './take-over.ts';

interface OldKeys {
  folder: KeyFolder;
  takingOver: TakingOver;
}

/** Groups that a claim needs and that are to be read: it is not judged until then. One claim at a time. */
export interface Unread {
  /** A claim begins. */
  clear(): void;
  /** What was read; undefined for what is to be read. */
  read(place: GroupPlace): Buffer | undefined;
  /** What the claim throws where something is to be read. */
  reason(): Transient | undefined;
}

export function createUnread(reads: ColdReads): Unread {
  const places: GroupPlace[] = [];
  return {
    clear() {
      places.length = 0;
    },
    read(place) {
      const group = reads.kept(place);
      // mutant: unread-keys-taken-for-new
      if (!group) places.push(place);
      return group;
    },
    reason: () => (places.length > 0 ? reads.later([...places]) : undefined),
  };
}

/**
 * Finds records in sealed files, and while that of the release before is taken over, in its file. With
 * `unread` only what was read is looked at, and the rest is named there.
 */
export function findOld({ folder, takingOver }: OldKeys, unread?: Unread): FindOld {
  const former = takingOver.former();
  return {
    cold: (item) => folder.files.findNow(item, unread?.read),
    other: former && (({ batch, from }, item) => former.find(batch.records, (from + item) * RECORD_WORDS)),
  };
}
