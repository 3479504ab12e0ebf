import { RECORD_WORDS } from '../../schemas/stored/record.ts';
import type { ColdReads } from './cold-reads.ts';
import type { FindOld } from './generations.ts';
import type { KeyFolder } from './key-folder.ts';
import { type GroupPlace, readNow } from './sealed-file.ts';
import type { TakingOver } from './take-over.ts';

interface OldKeys {
  folder: KeyFolder;
  takingOver: TakingOver;
}

/**
 * Finds records in sealed files, and while that of the release before is taken over, in its file. Reads in
 * this turn, as a start may.
 */
export function findOld({ folder, takingOver }: OldKeys): FindOld {
  return {
    cold: (item) => folder.files.find(item, readGroupNow),
    other: findFormer(takingOver),
  };
}

export interface FindRead extends FindOld {
  isUnread(): boolean;
  /** Where it has looked, and would have. */
  places: readonly GroupPlace[];
}

/** The same, of sealed files in what was read before. */
export function findRead({ folder, takingOver }: OldKeys, coldReads: ColdReads): FindRead {
  const places: GroupPlace[] = [];
  let isUnread = false;
  const read = (place: GroupPlace) => {
    // mutant: cold-keys-read-in-the-turn
    const group = coldReads.kept(place);
    places.push(place);
    // mutant: unread-keys-taken-for-new
    if (!group) isUnread = true;
    return group;
  };
  return {
    cold: (item) => folder.files.find(item, read),
    other: findFormer(takingOver),
    isUnread: () => isUnread,
    places,
  };
}

export function readGroupNow({ file, at, bytes }: GroupPlace): Buffer {
  return readNow(file, at, bytes);
}

function findFormer(takingOver: TakingOver): FindOld['other'] {
  const former = takingOver.former();
  return former && (({ batch, from }, item) => former.find(batch.records, (from + item) * RECORD_WORDS));
}
