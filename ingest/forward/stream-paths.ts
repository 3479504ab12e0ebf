import type { Exchange } from '../../infra/ports/http-front.ts';
import { API_BASE } from '../../schemas/route.ts';

/** Of the operations whose responses go on. The route table has them by their media type. */
export const STREAM_PATHS: ReadonlySet<string> = new Set([
  `${API_BASE}/entitlements/feed`,
  `${API_BASE}/usage/live`,
]);

/** A response that goes on holds its place for an hour: it must not be one of the places of requests. */
export function isStream({ method, path }: Exchange): boolean {
  return method === 'GET' && STREAM_PATHS.has(path);
}
