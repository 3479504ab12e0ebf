import { createRequire } from 'node:module';
import { FRONT_LIMITS } from './front-limits.ts';

/**
 * Loads the native binary; throws where there is none for this machine.
 *
 * A header block that arrives in several pieces is gathered up to a size that the binary reads from the
 * environment when it is loaded, 4 KiB if unset: beyond, a bare 431. On a real network every block over one
 * packet comes in pieces, so the size must be ours, and a little more for our own 431 to be given.
 */
export function loadUws(): typeof import('uWebSockets.js') {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(FRONT_LIMITS.headerBytesMax + GATHERED_BEYOND_BYTES);
  return createRequire(import.meta.url)('uWebSockets.js') as typeof import('uWebSockets.js');
}

/** Bounded from above by memory: it is held for every connection that dribbles its headers. */
const GATHERED_BEYOND_BYTES = 4 * 1024;
