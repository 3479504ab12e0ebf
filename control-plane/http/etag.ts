import { createHash } from 'node:crypto';
import { Rejected } from '../../schemas/failures.ts';
import { exactJson } from '../../schemas/primitives/exact-json.ts';
import type { RequestContext } from './request-context.ts';

/** A strong ETag, since it is made of the response's own bytes. */
export function etagOf(body: string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}

/**
 * Rejects a change of an object that is no longer as the caller saw it (`If-Match`, RFC 9110 §13.1.1).
 * `current` is the object as it would be shown now, read under a lock of its row; undefined where there is
 * none. Throws Rejected `precondition_failed`.
 */
export function requireMatch({ headers }: RequestContext, current: object | undefined): void {
  const wanted = headers['if-match'];
  if (wanted === undefined) return;
  const tags = wanted.split(',').map((tag) => tag.trim());
  if (current && (tags.includes('*') || tags.includes(etagOf(exactJson(current))))) return;
  throw new Rejected(
    'precondition_failed',
    'The object has changed since you read it. Read it again and send its new ETag in If-Match.',
  );
}
