import { Rejected } from '../../schemas/failures.ts';
import { faultyText } from '../../schemas/primitives/exact-json.ts';
import type { RowPlace } from '../store/read-slice.ts';

/** Opaque to clients. It names its list: the place in one list is none in another. */
export function cursorOf(list: string, { createdUs, placeId }: RowPlace): string {
  return Buffer.from(JSON.stringify([list, createdUs, placeId])).toString('base64url');
}

/** Throws Rejected for any text that is not a cursor of this list. */
export function placeIn(list: string, cursor: string): RowPlace {
  const text = cursor.length <= CURSOR_CHARS_MAX ? Buffer.from(cursor, 'base64url').toString() : '';
  const [named, createdUs, placeId] = parsed(text);
  const isId = typeof placeId === 'string' && placeId.length <= 128 && faultyText(placeId) === undefined;
  const isOfTable = isId && (!NUMBERED.has(list) || NUMBER.test(placeId));
  if (named === list && isOfTable && isTime(createdUs)) return { createdUs, placeId };
  const message = 'Invalid `after`: it is no cursor of this list. Take `endCursor` of its last page.';
  throw new Rejected('invalid_request', message, { param: 'after' });
}

/** A list that many parents have reads the cursor for each of them. */
const CURSOR_CHARS_MAX = 512;

/** Tables whose ids are numbers. */
const NUMBERED = new Set(['auditLog', 'ledger']);
const NUMBER = /^\d{1,18}$/;

const US_MAX = Date.UTC(2200, 0, 1) * 1000;

function isTime(us: unknown): us is number {
  return Number.isInteger(us) && Number(us) >= 0 && Number(us) <= US_MAX;
}

function parsed(json: string): unknown[] {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
