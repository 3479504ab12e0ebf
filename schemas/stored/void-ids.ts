import { createHash } from 'node:crypto';
import { fromBase32 } from '../primitives/ids.ts';
import { ID_BYTES } from './record.ts';

/**
 * A void is a record of its own on the log. Its id follows from its change and the event that it takes
 * away, without a key: so a void that is written again is a duplicate, and its record can be made again of
 * the row in the warehouse, which has the event's id. Ids of events are a keyed hash: no client can meet one
 * of these.
 */
export function voidId(change: number, eventId: string): Uint8Array {
  return createHash('sha256').update(`void ${change} ${eventId}`).digest().subarray(0, ID_BYTES);
}

const PREFIX = 'use_';

/** `use_` and 26 characters. */
export const EVENT_ID_CHARS = 30;

export function isEventId(text: string): boolean {
  return text.startsWith(PREFIX) && fromBase32(text.slice(PREFIX.length)) !== undefined;
}
