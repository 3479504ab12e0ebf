import type { ChangeRequest } from '../http/idempotent.ts';
import type { RequestKey } from '../store/idempotent-responses.ts';
import type { Account } from './account.ts';

/** A request that is decided while the account of its customer is locked. */
export interface AccountRequest {
  environment: string;
  customerId: string;
  /** The reservation that it is about, of this customer. */
  reservationId?: string | undefined;
  change: ChangeRequest;
  /** Its Idempotency-Key, where there is one. */
  key: RequestKey | undefined;
  /** With no `await`: the next request is decided after it. Throws Rejected, and has changed nothing then. */
  decide(account: Account, now: Date): Decided;
}

export interface Decided {
  status: number;
  body: string;
  /** What is denied keeps nothing, nor its key: it may be granted the next time. */
  isKept: boolean;
  /** For metrics. */
  outcome?: 'held' | 'denied' | 'released' | undefined;
}
