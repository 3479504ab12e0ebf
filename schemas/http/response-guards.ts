/**
 * On every answer, from any tier. `nosniff`: what a caller sent is never taken for a page when it is read.
 * `no-store`, where an answer says nothing else of caches: it is of one workspace and of one moment.
 */
export const RESPONSE_GUARDS = { 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' };
