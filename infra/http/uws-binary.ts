import { createRequire } from 'node:module';
import { FRONT_LIMITS } from './front-limits.ts';

/**
 * Loads the corrected binary that the build left next to this file; throws where there is none for this
 * machine and this Node. The one in the package is never loaded: see docs/operate/security.md.
 *
 * A header block that arrives in several pieces is collected up to a size that the binary reads from the
 * environment when it is loaded, 4 KiB if unset: beyond, a bare 431. On a real network every block over one
 * packet comes in pieces, so we set the size, and a little more so that our own 431 is sent.
 */
export function loadUws(): typeof import('uWebSockets.js') {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(FRONT_LIMITS.headerBytesMax + BUFFERED_BEYOND_BYTES);
  const { platform, arch, versions } = process;
  const name = `./uws_${platform}_${arch}_${versions.modules}.node`;
  const uws = createRequire(import.meta.url)(name) as typeof import('uWebSockets.js') & Silenced;
  uws._cfg(NO_BANNER);
  return uws;
}

/** Bounded from above by memory: it is held for every connection that dribbles its headers. */
const BUFFERED_BEYOND_BYTES = 4 * 1024;

/** A switch that the declarations leave out. It takes any text whose character codes sum up to 655. */
interface Silenced {
  _cfg(switched: string): void;
}

/** Responses do not contain `uWebSockets: 20`. */
const NO_BANNER = '999999990007';
