import type { OperationId } from '../../schemas/routes.ts';
import { type Read, type ReadOptions, useRead } from './reads.ts';
import { type ApiRequest, send } from './send.ts';
import type { Responded } from './wire.ts';

type Parameters = Record<string, string | number | undefined>;

/** A path of the API. Parameters that are undefined or empty are left out. */
export function apiPath(parts: readonly string[], query: Parameters = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return `/api/v1/${parts.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** Reads by one operation, at this path; undefined reads nothing yet. */
export function useOperation<Id extends OperationId>(
  path: string | undefined,
  options?: ReadOptions,
): Read<Responded<Id>> {
  return useRead(path === undefined ? undefined : { method: 'GET', path }, options);
}

/** The same once, outside of what is shown. Throws ApiError. */
export async function fetchOperation<Id extends OperationId>(
  request: Pick<ApiRequest, 'path'> & Partial<ApiRequest>,
): Promise<Responded<Id>> {
  const { body } = await send({ method: 'GET', ...request });
  return body as Responded<Id>;
}
