import type { Rejection } from '../error-codes.ts';

/** The API key of a request, from either of its two headers, or why the request is rejected (401). */
export function presentedKey(
  authorization: string | undefined,
  apiKeyHeader: string | undefined,
): string | Rejection {
  const bearer = authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  const header = apiKeyHeader?.trim();
  if (authorization !== undefined && bearer === undefined) {
    return unauthenticated('The Authorization header must read `Bearer <API key>`.');
  }
  if (bearer && header && bearer !== header) {
    return unauthenticated('Authorization and X-API-Key carry different keys; send one.');
  }
  return (
    bearer || header || unauthenticated('Send an API key: `Authorization: Bearer <API key>` or `X-API-Key`.')
  );
}

function unauthenticated(message: string): Rejection {
  return { code: 'unauthenticated', message };
}
