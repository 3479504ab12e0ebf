import { Fatal, Transient } from '../../schemas/failures.ts';
import {
  type Claim,
  type ClaimBatch,
  type IdempotencyStore,
  KeysToRead,
} from '../ports/idempotency-store.ts';
import { ColdReads } from './cold-reads.ts';
import { findRead } from './find-old.ts';
import { type Generations, pieceLength, piecesOf } from './generations.ts';
import type { KeyFolder } from './key-folder.ts';
import type { KeyUpkeep } from './key-upkeep.ts';
import type { TakingOver } from './take-over.ts';

export interface KeyTable extends IdempotencyStore {
  /**
   * Judges in this turn. Throws KeysToRead where old records are to be read first, Transient `keys_unwritten`
   * while too many keys wait for the disk, and Fatal `record_file_damaged` when an old record is. It has
   * claimed nothing then.
   */
  claim(batch: ClaimBatch): Claim;
  /** Without the log before this position the next start knows every key all the same. */
  coveredUpTo(): number;
  /** Known keys, with those that are claimed and not yet confirmed. */
  readonly keyCount: number;
  /** No claim waits for the disk any more: those that do fail with `keys_unread`, as do all that come. */
  stopReading(): void;
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
  const coldReads = new ColdReads();

  return {
    get keyCount() {
      return generations.next;
    },

    coveredUpTo: () => folder.manifest.logPosition,

    claim: (batch) => claimAll(parts, coldReads, batch),

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

    stopReading: () => coldReads.stop(),

    async close() {
      coldReads.stop();
      await takingOver.stop();
      await upkeep.finish();
      await folder.files.close();
    },
  };
}

function claimAll(parts: KeyTableParts, coldReads: ColdReads, batch: ClaimBatch): HeldClaim {
  const { generations, folder } = parts;
  const firstRecord = generations.next;
  const find = findRead(parts, coldReads);
  let waits = false;
  try {
    for (const piece of piecesOf(batch, pieceLength(folder.memory))) {
      generations.makeRoom(piece.count);
      // mutant: two-step-claim
      const judged = generations.claim(piece, find);
      if (judged === 'full') throw unwritten();
      waits ||= judged;
    }
    if (find.isUnread()) throw new KeysToRead((tenant) => coldReads.read(find.places, tenant));
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
