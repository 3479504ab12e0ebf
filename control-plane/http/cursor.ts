import { Rejected } from '../../schemas/failures.ts';

/** The position of an entry as a client gets it: opaque, and safe in an address. */
export function cursorOf(position: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** The position in a cursor. Throws Rejected unless `isPosition`. */
export function readCursor<Position extends unknown[]>(
  cursor: string,
  isPosition: (values: unknown[]) => values is Position,
): Position {
  const values = parsed(Buffer.from(cursor, 'base64url').toString());
  if (isPosition(values)) return values;
  throw new Rejected('invalid_request', 'Invalid `cursor`.', { param: 'cursor' });
}

function parsed(json: string): unknown[] {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** A text that Postgres can compare. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\u0000');
}
