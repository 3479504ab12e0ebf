import { Fatal } from '../../schemas/failures.ts';
import { RECORD_WORDS } from '../../schemas/stored/record.ts';
import { type Claim, type ClaimBatch, type IdempotencyStore, OUTCOME } from '../ports/idempotency-store.ts';
import { type RecentRecords, wordOf } from './recent-records.ts';
import type { RecordFinder } from './record-finder.ts';
import type { RecordWriter } from './record-writer.ts';
import { NOT_FOUND, type SlotTable } from './slot-table.ts';

export interface KeyTable extends IdempotencyStore {
  /**
   * Judges in this turn. Throws Fatal `record_file_unreadable` or `record_file_truncated` when an old record
   * cannot be read, and has claimed nothing then.
   */
  claim(batch: ClaimBatch): Claim;
  /** Without the log before this position the next start knows every key all the same. */
  coveredUpTo(): number;
  /** Known keys, with those that are claimed and not yet confirmed. */
  readonly keyCount: number;
}

export interface KeyTableParts {
  slots: SlotTable;
  recent: RecentRecords;
  finder: RecordFinder;
  writer: RecordWriter;
  closeFiles(): Promise<void>;
}

/** A claim knows which records it reserved: `created` of them, from this one on. */
interface HeldClaim extends Claim {
  firstRecord: number;
}

export function createKeyTable(parts: KeyTableParts): KeyTable {
  const { recent, writer } = parts;
  let confirmed = recent.next;

  return {
    get keyCount() {
      return recent.next;
    },

    coveredUpTo: () => writer.coveredUpTo(),

    claim: (batch) => claimAll(parts, batch, confirmed),

    confirm(claims, logEnd) {
      for (const { created, firstRecord } of claims as HeldClaim[]) {
        if (created > 0 && firstRecord !== confirmed) throw outOfOrder(firstRecord, confirmed);
        confirmed += created;
      }
      return writer.advance(confirmed, logEnd);
    },

    release(claims) {
      const first = (claims as HeldClaim[])[0]?.firstRecord ?? recent.next;
      if (first < confirmed) throw outOfOrder(first, confirmed);
      takeBack(parts, first, recent.next);
    },

    async close() {
      await writer.finish();
      await parts.closeFiles();
    },
  };
}

function claimAll(parts: KeyTableParts, batch: ClaimBatch, confirmed: number): HeldClaim {
  const { slots, recent, finder } = parts;
  const { count, records, readOnly, outcomes } = batch;
  const firstRecord = recent.next;
  let end = firstRecord;
  let waits = false;
  slots.warm(records, count, RECORD_WORDS);
  try {
    for (let item = 0, at = 0; item < count; item++, at += RECORD_WORDS) {
      const known = slots.find(records, at);
      if (known !== NOT_FOUND) {
        outcomes[item] = finder.recall(known, records, at);
        waits ||= known >= confirmed;
      } else if (readOnly[item] === 1) {
        outcomes[item] = OUTCOME.absent;
      } else {
        // mutant: two-step-claim
        slots.insert(records, at, recent.append(records, at));
        end = recent.next;
        outcomes[item] = OUTCOME.created;
      }
    }
  } catch (error) {
    // No claim commits them: a retry would get `duplicate` for an event that is on no log.
    // mutant: claims-kept-when-a-read-fails
    takeBack(parts, firstRecord, end);
    throw error;
  }
  return { created: end - firstRecord, waits, firstRecord };
}

/** Newest first: a record's number is given again. */
function takeBack({ slots, recent }: KeyTableParts, first: number, end: number): void {
  for (let record = end - 1; record >= first; record--) {
    slots.remove(recent.blockOf(record), wordOf(record), record);
  }
  recent.cutAt(first);
}

function outOfOrder(record: number, confirmed: number): Fatal {
  const message = `Claims were settled out of order: record ${record} while ${confirmed} are confirmed.`;
  return new Fatal('claims_out_of_order', message);
}
