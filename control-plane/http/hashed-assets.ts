import { createHash } from 'node:crypto';
import { Rejected } from '../../schemas/failures.ts';
import type { PublicPage } from './public-page.ts';

/** The files of a page. A name carries a hash of the content, so that browsers may cache it forever. */
export interface HashedAssets {
  /** Returns the path of the file. */
  add(name: string, mediaType: string, content: string | Buffer): string;
  /** By the last part of its path; no other path is served. Throws Rejected `not_found`. */
  page(name: string): PublicPage;
}

export const STYLE = 'text/css; charset=utf-8';
export const SCRIPT = 'text/javascript; charset=utf-8';
export const HTML = 'text/html; charset=utf-8';

export const GUARDED = { 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' };
/** A year: changed content gets another name. */
const FOREVER = 'public, max-age=31536000, immutable';

/** @param home the path of the page, above its files. */
export function createHashedAssets(home: string): HashedAssets {
  const assets = new Map<string, { mediaType: string; content: Buffer }>();
  return {
    add(name, mediaType, content) {
      const bytes = Buffer.from(content);
      const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
      const hashed = name.replace(/\.(\w+)$/, `-${hash}.$1`);
      assets.set(hashed, { mediaType, content: bytes });
      return `${home}/${hashed}`;
    },
    page(name) {
      const found = assets.get(name);
      if (!found) throw new Rejected('not_found', `This file does not exist. See ${home}.`);
      const { mediaType, content } = found;
      return { mediaType, headers: { 'Cache-Control': FOREVER, ...GUARDED }, body: content };
    },
  };
}
