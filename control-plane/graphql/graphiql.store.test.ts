import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';

/*
 * The page to write queries, as a browser sees it.
 *
 * Mutants this suite catches: an asset from another origin; a script that is inline; a directive of the
 * policy with `*`; an asset as it is, to a client that takes gzip; headers, and a key in them, kept for the
 * next user of the browser.
 */
const api = await apiOfThisFile();
const page = await api.call('GET', '/graphql?query=%7B%7D', { key: undefined });
const paths = [...page.text.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, path = '']) => path);

function bytesOf(path: string) {
  return async (accepted: string) => {
    const response = await request(`${api.origin}${path}`, { headers: { 'accept-encoding': accepted } });
    const bytes = Buffer.from(await response.body.arrayBuffer());
    return { encoding: response.headers['content-encoding'], bytes };
  };
}

async function start(): Promise<string> {
  const path = paths.find((one) => one.startsWith('/graphql/start-')) ?? '';
  return (await api.call('GET', path, { key: undefined })).text;
}

describe('the page', () => {
  it('is HTML without a key, and loads files of our own origin only', async () => {
    expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    const workers = (await start()).match(/\/graphql\/[a-z]+-worker-[0-9a-f]{12}\.js/g) ?? [];
    expect([paths.length, workers.length]).toEqual([5, 3]);
    for (const path of [...paths, ...workers]) {
      expect(path).toMatch(/^\/graphql\/[a-z-]+-[0-9a-f]{12}\.\w+$/);
      const asset = await api.call('GET', path, { key: undefined });
      expect(asset).toMatchObject({
        status: 200,
        headers: {
          'cache-control': 'public, max-age=31536000, immutable',
          'x-content-type-options': 'nosniff',
        },
      });
    }
    expect(page.text).not.toMatch(/<style|style=|<script>|\bon\w+=/);
    expectRejection(await api.call('GET', '/graphql/other.js', { key: undefined }), 'not_found');
  });

  /** Red without the compressed forms: 6 MB go over the network, of the editor's script alone 5. */
  it('is sent compressed, with the same content', async () => {
    for (const path of paths.filter((one) => /\.(js|css)$/.test(one))) {
      const [plain, gzip, brotli] = await Promise.all(['identity', 'gzip', 'gzip, br'].map(bytesOf(path)));
      expect([plain?.encoding, gzip?.encoding, brotli?.encoding]).toEqual([undefined, 'gzip', 'br']);
      expect(gunzipSync(gzip?.bytes ?? '').equals(plain?.bytes ?? Buffer.of())).toBe(true);
      expect(brotliDecompressSync(brotli?.bytes ?? '').equals(plain?.bytes ?? Buffer.of())).toBe(true);
      expect(gzip?.bytes.length).toBeLessThan(2_000_000);
    }
  });

  it('has a policy under which a browser loads and sends nothing elsewhere', () => {
    const policy = String(page.headers['content-security-policy']);
    const directives = policy.split('; ').map((one) => one.split(' '));
    expect(directives[0]).toEqual(['default-src', "'none'"]);
    const sources = new Set(directives.flatMap(([, ...places]) => places));
    expect([...sources].sort()).toEqual(["'none'", "'self'", "'unsafe-inline'", 'data:']);
    const inline = directives.filter((one) => one.includes("'unsafe-inline'")).map(([name]) => name);
    expect(inline).toEqual(['style-src']);
    for (const name of ['base-uri', 'form-action', 'frame-ancestors']) {
      expect(directives).toContainEqual([name, "'none'"]);
    }
  });

  it('has one place for the key, which is kept for the session and nowhere else', async () => {
    expect(page.text.match(/<input /g)).toHaveLength(1);
    expect(page.text).toContain('<input id="key" type="password" autocomplete="off"');
    const text = await start();
    expect(text.match(/\b(local|session)Storage\.\w+/g)?.sort()).toEqual([
      'sessionStorage.getItem',
      'sessionStorage.removeItem',
      'sessionStorage.setItem',
    ]);
    expect(text).toContain('shouldPersistHeaders: false');
    expect(text).toContain('isHeadersEditorEnabled: false');
    expect(text.match(/fetch\('[^']*'/g)).toEqual(["fetch('/graphql'"]);
  });
});
