import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { Rejected } from '../../schemas/failures.ts';
import type { PublicPage } from './public-page.ts';

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

/** The files of a page. A name carries a hash of the content, so that browsers may cache it forever. */
export interface HashedAssets {
  /** Returns the path of the file. */
  add(name: string, mediaType: string, content: string | Buffer): string;
  /**
   * By the last part of its path; no other path is served. Texts are compressed when they are first
   * requested. Throws Rejected `not_found`.
   */
  page(name: string): Promise<PublicPage>;
}

export const STYLE = 'text/css; charset=utf-8';
export const SCRIPT = 'text/javascript; charset=utf-8';
export const HTML = 'text/html; charset=utf-8';

export const GUARDED = { 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' };
/** A year: changed content gets another name. */
const FOREVER = 'public, max-age=31536000, immutable';

/** @param home the path of the page, above its files. */
export function createHashedAssets(home: string): HashedAssets {
  const assets = new Map<string, Asset>();
  return {
    add(name, mediaType, content) {
      const bytes = Buffer.from(content);
      const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
      const hashed = name.replace(/\.(\w+)$/, `-${hash}.$1`);
      assets.set(hashed, { mediaType, content: bytes });
      return `${home}/${hashed}`;
    },
    async page(name) {
      const found = assets.get(name);
      if (!found) throw new Rejected('not_found', `This file does not exist. See ${home}.`);
      const { mediaType, content: body } = found;
      const headers = { 'Cache-Control': FOREVER, ...GUARDED };
      if (!TEXTS.has(mediaType)) return { mediaType, headers, body };
      found.compressed ??= compress(body);
      return { mediaType, headers, body, encoded: await found.compressed };
    },
  };
}

interface Asset {
  mediaType: string;
  content: Buffer;
  /** Once for all requests. */
  compressed?: Promise<Encoded>;
}

type Encoded = NonNullable<PublicPage['encoded']>;

const TEXTS = new Set([STYLE, SCRIPT]);
/** 5 MB take 0.3 s in other threads and become 1.3 MB. The best quality takes a hundred times as long. */
const BROTLI_QUALITY = 5;

async function compress(content: Buffer): Promise<Encoded> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  const [br, gzip] = await Promise.all([brotli(content, { params }), gzipped(content)]);
  return { br, gzip };
}
