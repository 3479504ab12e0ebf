import { Fatal, Transient } from '../../schemas/failures.ts';
import type { Claim, ClaimBatch, IdempotencyStore } from '../ports/idempotency-store.ts';
import { ColdReads } from './cold-reads.ts';
import { createUnread, findOld, type Unread } from './find-old.ts';
import { type Generations, pieceLength, piecesOf } from './generations.ts';
import type { KeyFolder } from './key-folder.ts';
import type { KeyUpkeep } from './key-upkeep.ts';
import type { TakingOver } from './take-over.ts';

export interface KeyTable extends IdempotencyStore {
  /**
   * Judges in this turn. Throws Transient `keys_unwritten` while too many keys wait for the disk, and Fatal
   * `record_file_unreadable`, `record_file_truncated` or `record_file_damaged` when an old record cannot be
   * read. With `reads` it throws KeysToRead where old records are to be read, and Transient `keys_unread`
   * while too many wait for that. It has claimed nothing then.
   */
  claim(batch: ClaimBatch, reads?: 'later'): Claim;
  /** Without the log before this position the next start knows every key all the same. */
  coveredUpTo(): number;
  /** Known keys, with those that are claimed and not yet confirmed. */
  readonly keyCount: number;
}

export interface KeyTableParts {
  folder: KeyFolder;
  generations: Generations;
  upkeep: KeyUpkeep;
  takingOver: TakingOver;
}

/** A claim knows which records it reserved: `created` of them, from this one on. */
interface HeldClaim extends Claim {
  firstRecord: number;
}

export function createKeyTable(parts: KeyTableParts): KeyTable {
  const { folder, generations, upkeep, takingOver } = parts;
  const unread = createUnread(new ColdReads());

  return {
    get keyCount() {
      return generations.next;
    },

    coveredUpTo: () => folder.manifest.logPosition,

    claim: (batch, reads) => claimAll(parts, batch, reads && unread),

    confirm(claims, logEnd) {
      let { confirmed } = generations;
      for (const { created, firstRecord } of claims as HeldClaim[]) {
        if (created > 0 && firstRecord !== confirmed) throw outOfOrder(firstRecord, confirmed);
        confirmed += created;
      }
      generations.confirm(confirmed, logEnd);
      upkeep.advance();
    },

    release(claims) {
      const first = (claims as HeldClaim[])[0]?.firstRecord ?? generations.next;
      if (first < generations.confirmed) throw outOfOrder(first, generations.confirmed);
      generations.takeBack(first);
    },

    async close() {
      await takingOver.stop();
      await upkeep.finish();
      await folder.files.close();
    },
  };
}

function claimAll(parts: KeyTableParts, batch: ClaimBatch, unread?: Unread): HeldClaim {
  const { generations, folder } = parts;
  const firstRecord = generations.next;
  let waits = false;
  unread?.clear();
  try {
    for (const piece of piecesOf(batch, pieceLength(folder.memory))) {
      generations.makeRoom(piece.count);
      // mutant: two-step-claim
      const judged = generations.claim(piece, findOld(parts, unread));
      if (judged === 'full') throw unwritten();
      waits ||= judged;
    }
    const reason = unread?.reason();
    if (reason) throw reason;
  } catch (error) {
    // No claim commits them: a retry would get `duplicate` for an event that is on no log.
    // mutant: claims-kept-when-a-read-fails
    generations.takeBack(firstRecord);
    throw error;
  }
  return { created: generations.next - firstRecord, waits, firstRecord };
}

function unwritten(): Transient {
  return new Transient('keys_unwritten', 'Too many keys wait to be written to the disk.');
}

function outOfOrder(record: number, confirmed: number): Fatal {
  const message = `Claims were settled out of order: record ${record} while ${confirmed} are confirmed.`;
  return new Fatal('claims_out_of_order', message);
}
