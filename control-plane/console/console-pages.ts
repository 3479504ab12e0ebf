import { createHash } from 'node:crypto';
import { Rejected } from '../../schemas/failures.ts';
import { type Console, readConsole } from './read-console.ts';

/** A page without a key, with what HTTP caches and compression need of it. */
export interface ConsolePage {
  mediaType: string;
  headers: Record<string, string>;
  body: string | Buffer;
  encoded?: { br: Buffer; gzip: Buffer };
}

/**
 * The page loads, runs and sends nothing outside its own origin, and no script of it becomes part of the page
 * as text. `data:` is for the icons in its style sheet.
 */
const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const GUARDED = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
/** A year: changed content gets another name. */
const FOREVER = 'public, max-age=31536000, immutable';

/** Reads the files when the page is first requested. */
export function createConsolePages() {
  let read: Console | undefined;
  const built = (): Console => {
    read ??= readConsole();
    if (read) return read;
    throw new Rejected('not_found', 'This program was built without the console. Run npm run build.');
  };

  return {
    page(): ConsolePage {
      const { html } = built();
      const headers = {
        'Content-Security-Policy': CONSOLE_POLICY,
        'Cache-Control': 'no-cache',
        ETag: etag(html),
        ...GUARDED,
      };
      return { mediaType: 'text/html; charset=utf-8', headers, body: html };
    },
    asset(name: string): ConsolePage {
      const found = built().assets.get(name);
      if (!found) throw new Rejected('not_found', 'This file does not exist. See /console.');
      const { mediaType, content, encoded } = found;
      // A name has one content, whatever its encoding.
      const headers = { 'Cache-Control': FOREVER, ETag: etag(name), ...GUARDED };
      return { mediaType, headers, body: content, encoded };
    },
  };
}

/** Weak: the same for each encoding. */
function etag(text: string): string {
  return `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
}
