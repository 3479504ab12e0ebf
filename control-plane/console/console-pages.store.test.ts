import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';

/*
 * The console as a browser loads it; `npm test` builds it before. What it shows is tested in a browser
 * (tests/browser).
 */
const api = await apiOfThisFile();
const page = await get('/console');
const paths = [...page.text.matchAll(/\b(?:src|href)="(\/[^"]*)"/g)].map(([, path = '']) => path);
const assets = paths.filter((path) => path.startsWith('/console/'));

function get(path: string, headers: Record<string, string> = {}) {
  return api.call('GET', path, { key: undefined, headers });
}

/** With its bytes as they were sent. */
async function getBytes(path: string, encodings: string) {
  const response = await request(`${api.origin}${path}`, { headers: { 'accept-encoding': encodings } });
  const bytes = Buffer.from(await response.body.arrayBuffer());
  return { encoding: response.headers['content-encoding'], headers: response.headers, bytes };
}

describe('the page', () => {
  it('is HTML without a key, and names one script and one style sheet of our own origin', () => {
    expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(assets.map((path) => path.replace(/-\w{8}\./, '-HASH.'))).toEqual([
      '/console/console-HASH.css',
      '/console/console-HASH.js',
    ]);
    expect(page.text).not.toMatch(/<style|style=|<script>|\bon\w+=|https?:\/\/(?!www\.w3\.org)/);
  });

  it('has a policy under which a browser loads, runs and sends nothing elsewhere', () => {
    const policy = String(page.headers['content-security-policy']);
    const directives = new Map(policy.split('; ').map((one) => [one.split(' ')[0], one]));
    expect(policy.startsWith("default-src 'none'; ")).toBe(true);
    expect(directives.get('script-src')).toBe("script-src 'self'");
    expect(directives.get('connect-src')).toBe("connect-src 'self'");
    expect(directives.get('require-trusted-types-for')).toBe("require-trusted-types-for 'script'");
    for (const name of ['base-uri', 'form-action', 'frame-ancestors']) {
      expect(directives.get(name)).toBe(`${name} 'none'`);
    }
    expect(policy).not.toMatch(/unsafe|\*|http/);
  });

  /** Red without the comparison of ETags: a page of a release is then sent at every visit. */
  it('is checked at each visit, and sent again only when it is another one', async () => {
    expect(page.headers['cache-control']).toBe('no-cache');
    const again = await get('/console', { 'if-none-match': String(page.headers.etag) });
    expect(again).toMatchObject({ status: 304, text: '' });
    expect(await get('/console', { 'if-none-match': 'W/"other"' })).toMatchObject({ status: 200 });
  });

  it('accepts a trailing slash and parameters that a link may have', async () => {
    expect(await get('/console/')).toMatchObject({ status: 200 });
    expect(await get('/console?from=mail')).toMatchObject({ status: 200 });
  });
});

describe('a file of the page', () => {
  it('is kept for a year under its name, and may be asked for by its ETag', async () => {
    for (const path of assets) {
      const asset = await get(path);
      expect(asset.headers).toMatchObject({
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        vary: 'Accept-Encoding',
      });
      const again = await get(path, { 'if-none-match': String(asset.headers.etag) });
      expect(again.status).toBe(304);
    }
  });

  /** Red when one encoding is sent for another, or to a client that cannot read it. */
  it('is compressed as the client accepts it, with the same content', async () => {
    for (const path of assets) {
      const plain = await getBytes(path, 'identity');
      expect(plain.encoding).toBeUndefined();
      const [gzip, brotli] = [await getBytes(path, 'gzip'), await getBytes(path, 'gzip, deflate, br')];
      expect([gzip.encoding, brotli.encoding]).toEqual(['gzip', 'br']);
      expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
      expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true);
    }
  });

  it('is small: all of them are at most 250 KiB with gzip', async () => {
    const sizes = await Promise.all(assets.map(async (path) => (await getBytes(path, 'gzip')).bytes.length));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(250 * 1024);
  });

  it('is only what the page names', async () => {
    const names = [
      'page.html',
      'console.js',
      '..%2fpackage.json',
      '__proto__',
      'constructor',
      'x'.repeat(120),
    ];
    const compressed = assets.map((path) => `${path.split('/').at(-1)}.br`);
    for (const name of [...names, ...compressed]) {
      expectRejection(await get(`/console/${name}`), 'not_found');
    }
  });
});

describe('the root', () => {
  const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  it('leads browsers to the console', async () => {
    const response = await get('/', { accept: HTML });
    expect(response).toMatchObject({ status: 302, headers: { location: '/console', vary: 'Accept' } });
  });

  /** Red when any client that takes everything is taken for a browser. */
  it('stays a 404 in JSON for all others, as do other paths and methods', async () => {
    expectRejection(await get('/'), 'not_found');
    expectRejection(await get('/', { accept: '*/*' }), 'not_found');
    expectRejection(await get('/', { accept: 'application/json' }), 'not_found');
    expectRejection(await get('/nowhere', { accept: HTML }), 'not_found');
    const post = await api.call('POST', '/', { key: undefined, headers: { accept: HTML } });
    expectRejection(post, 'not_found');
  });
});
