import type { Rejection } from '../../schemas/error-codes.ts';
import type { ChangeRows } from '../../schemas/stored/change-rows.ts';

/**
 * Writes usage events of the installation itself, as of a reservation that was committed: ordinary events, on
 * the log and counted like those of clients, under idempotency keys that no client can send.
 */
export interface UsageWriter {
  /**
   * Resolves with one result per event, in their order, once all that are created or duplicates are durable.
   * Throws Transient with an unknown outcome: some may have been written, and the same keys find that out.
   */
  write(usage: OwnUsage): Promise<WrittenEvent[]>;
}

export interface OwnUsage {
  environment: string;
  /** Of any number: a writer sends them in batches. */
  events: readonly OwnEvent[];
  /**
   * The change of usage that they are part of: they count once it is visible. Without one they are counted as
   * soon as they are loaded.
   */
  change?: ChangeRows;
}

export interface OwnEvent {
  /**
   * Up to 255 characters, none a control character. It is known forever. Of a void the id of the event that
   * it takes away, whose other members it repeats.
   */
  idempotencyKey: string;
  /** `cus_…` */
  customerId: string;
  /** A meter's key. */
  meterId: string;
  /** Canonical decimal text. */
  value: string;
  /** RFC 3339. */
  occurredAt: string;
  /** A JSON object of plain values; null: none. */
  properties: string | null;
}

export type WrittenEvent =
  | {
      status: 'created' | 'duplicate';
      eventId: string;
      /** As a JSON text, the first one for a duplicate. Its value is exact, so that no double reads it. */
      event: string;
    }
  | { status: 'error'; rejection: Rejection };
