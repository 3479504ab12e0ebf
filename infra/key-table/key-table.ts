import { Fatal } from '../../schemas/failures.ts';
import { type Claim, type ClaimBatch, type IdempotencyStore, OUTCOME } from '../ports/idempotency-store.ts';
import { RECORD_WORDS, type RecentRecords, wordOf } from './recent-records.ts';
import type { RecordFinder } from './record-finder.ts';
import type { RecordWriter } from './record-writer.ts';
import { NOT_FOUND, type SlotTable } from './slot-table.ts';

export interface KeyTable extends IdempotencyStore {
  /** Judges in this turn; throws Fatal `record_file_unreadable` when an old record cannot be read. */
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
  const { slots, recent, finder, writer } = parts;
  let confirmed = recent.next;

  return {
    get keyCount() {
      return recent.next;
    },

    coveredUpTo: () => writer.coveredUpTo(),

    claim(batch): HeldClaim {
      const { records, readOnly, outcomes } = batch;
      const firstRecord = recent.next;
      let waits = false;
      slots.warm(records, batch.count, RECORD_WORDS);
      for (let item = 0, at = 0; item < batch.count; item++, at += RECORD_WORDS) {
        const known = slots.find(records, at);
        if (known !== NOT_FOUND) {
          outcomes[item] = finder.recall(known, records, at);
          waits ||= known >= confirmed;
        } else if (readOnly[item] === 1) {
          outcomes[item] = OUTCOME.absent;
        } else {
          slots.insert(records, at, recent.append(records, at));
          outcomes[item] = OUTCOME.created;
        }
      }
      return { created: recent.next - firstRecord, waits, firstRecord };
    },

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
      // Newest first: a record's number is given again.
      for (let record = recent.next - 1; record >= first; record--) {
        slots.remove(recent.blockOf(record), wordOf(record), record);
      }
      recent.cutAt(first);
    },

    async close() {
      await writer.finish();
      await parts.closeFiles();
    },
  };
}

function outOfOrder(record: number, confirmed: number): Fatal {
  const message = `Claims were settled out of order: record ${record} while ${confirmed} are confirmed.`;
  return new Fatal('claims_out_of_order', message);
}
