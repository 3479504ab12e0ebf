/**
 * Headers of every response, from either plane. `nosniff`: a browser never takes data of a client for a page.
 * `no-store`, unless a response sets another `Cache-Control`: it belongs to one workspace and one time.
 */
export const RESPONSE_GUARDS = { 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' };
