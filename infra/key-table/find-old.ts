import { RECORD_WORDS } from '../../schemas/stored/record.ts';
import type { FindOld } from './generations.ts';
import type { KeyFolder } from './key-folder.ts';
import type { TakingOver } from './take-over.ts';

/** Finds records in sealed files, and while that of the release before is taken over, in its file. */
export function findOld({ folder, takingOver }: { folder: KeyFolder; takingOver: TakingOver }): FindOld {
  const former = takingOver.former();
  return {
    cold: (item) => folder.files.findNow(item),
    other: former && (({ batch, from }, item) => former.find(batch.records, (from + item) * RECORD_WORDS)),
  };
}
