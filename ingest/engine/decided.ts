import type { UsageRequest } from '../../infra/ports/engine.ts';
import { OUTCOME, type Outcome } from '../../infra/ports/idempotency-store.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import type { Mode } from '../../schemas/primitives/environment.ts';
import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import type { Customer, CustomerMeter } from '../registry-entries.ts';
import type { CheckedItem } from './js/check-item.ts';

/** A request whose form is known and whose names are resolved. */
export interface Reading {
  request: UsageRequest;
  /** Why the request as a whole is rejected. */
  rejection?: Rejection;
  items: Item[];
  /** Names of unknown members, for the response. */
  ignored: readonly string[];
}

/** What is known of one item, step by step. One object of one shape, since there are 500 in a request. */
export interface Item {
  /** As sent where it is text, else ''. */
  idempotencyKey: string;
  /** Its fields; undefined when its form is wrong. */
  checked: CheckedItem | undefined;
  /** Which customer it is of; undefined when no customer has that name. */
  customer: Customer | undefined;
  /** Set when customer and meter are both known. */
  customerMeter: CustomerMeter | undefined;
  /** That of the API key, where the other mode has the name that is not found; '' where nothing is known. */
  keyMode: Mode | '';
  /** Postgres is unavailable and a name is not cached: this item cannot be decided. */
  unavailable: boolean;
  /** Why the item is rejected, as far as is known. */
  rejection: Rejection | undefined;
  /** `use_…","<fingerprint>`: two columns of its line; '' where nothing was identified. */
  identity: string;
  /** Its place among the records; -1 where nothing was identified. */
  at: number;
  outcome: Outcome;
}

/** Everything that was decided of a request. `records` holds the identified items in order, 10 words each. */
export interface Decided {
  items: Item[];
  ignored: readonly string[];
  /** The change of usage that the events are of. */
  change: ChangeRows | undefined;
  /** How many events of this millisecond came before the first of these. */
  arrival: number;
  records: Uint32Array;
  /** The same memory as f64 (schemas/stored/record.ts). */
  times: Float64Array;
}

export function newItem(idempotencyKey: string, checked: CheckedItem | Rejection): Item {
  const wellFormed = !('code' in checked);
  return {
    idempotencyKey,
    checked: wellFormed ? checked : undefined,
    customer: undefined,
    customerMeter: undefined,
    keyMode: '',
    unavailable: false,
    rejection: wellFormed ? undefined : checked,
    identity: '',
    at: -1,
    outcome: OUTCOME.absent,
  };
}
