import { describe, expect, it } from 'vitest';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';

/*
 * The page that shows the API description, as a browser sees it.
 *
 * Mutants this suite catches: an asset from another origin; `validatorUrl` left out; a directive of the
 * policy with `*`; the asset read from its folder by the name in the path.
 */
const api = await apiOfThisFile();
const page = await api.call('GET', '/docs', { key: undefined });

function assetPaths(): string[] {
  return [...page.text.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, path = '']) => path);
}

function isNamed(name: string) {
  return (path: string) => path.startsWith(`/docs/${name}-`);
}

describe('the page', () => {
  it('is HTML without a key, and loads files of our own origin only', async () => {
    expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(assetPaths()).toHaveLength(6);
    for (const path of assetPaths())
      expect(path).toMatch(/^\/(docs\/[a-z-]+-[0-9a-f]{12}\.\w+|openapi\.json)$/);
    expect(page.text).not.toMatch(/<style|style=|<script>|\bon\w+=/);
  });

  it('has a policy under which a browser loads and sends nothing elsewhere', () => {
    const policy = String(page.headers['content-security-policy']);
    const directives = policy.split('; ').map((one) => one.split(' '));
    expect(directives[0]).toEqual(['default-src', "'none'"]);
    const sources = new Set(directives.flatMap(([, ...places]) => places));
    expect([...sources].sort()).toEqual(["'none'", "'self'", 'data:']);
    const data = directives.filter((one) => one.includes('data:')).map(([name]) => name);
    expect(data).toEqual(['img-src']);
    for (const name of ['base-uri', 'form-action', 'frame-ancestors']) {
      expect(directives).toContainEqual([name, "'none'"]);
    }
  });

  it('names files that are there, are kept for a year and name no other origin themselves', async () => {
    for (const path of assetPaths()) {
      const asset = await api.call('GET', path, { key: undefined });
      expect(asset.status).toBe(200);
      if (!path.startsWith('/docs/')) continue;
      expect(asset.headers).toMatchObject({
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
      });
      expect(otherOrigins(path, asset.text)).toEqual([]);
    }
  });

  it('shows the description of this server, and sends it to no validator', async () => {
    const start = assetPaths().find((path) => path.includes('start')) ?? '';
    const { text } = await api.call('GET', start, { key: undefined });
    expect(text).toContain("url: '/openapi.json'");
    expect(text).toContain('validatorUrl: null');
  });

  /** Red with `persistAuthorization`, which keeps a key in localStorage, for the next user of the browser. */
  it('has one place for the key, which is kept for the session and nowhere else', async () => {
    expect(page.text.match(/<input /g)).toHaveLength(1);
    expect(page.text).toContain('<input id="key" type="password" autocomplete="off"');
    const [start = '', style = ''] = ['start', 'page'].map((name) => assetPaths().find(isNamed(name)));
    const { text } = await api.call('GET', start, { key: undefined });
    expect(text.match(/\b(local|session)Storage\.\w+/g)?.sort()).toEqual([
      'sessionStorage.getItem',
      'sessionStorage.removeItem',
      'sessionStorage.setItem',
    ]);
    expect(text).not.toMatch(/persistAuthorization|document\.cookie|fetch\(/);
    // The dialogs of Swagger UI, of which each operation has one.
    const { text: css } = await api.call('GET', style, { key: undefined });
    expect(css).toContain(
      '.swagger-ui .scheme-container, .swagger-ui .authorization__btn { display: none; }',
    );
  });

  it('shows usage first', async () => {
    const start = assetPaths().find(isNamed('start')) ?? '';
    const { text } = await api.call('GET', start, { key: undefined });
    expect(text).toContain("const FIRST = ['usage', ");
  });
});

describe('a file of the page', () => {
  it('is only what the page names: no path leads anywhere else', async () => {
    const names = [
      'index.html',
      'package.json',
      '..%2Fpackage.json',
      '..%2f..%2f..%2fetc%2fpasswd',
      '%2e%2e%2fpackage.json',
      '..%5cpackage.json',
      'swagger-ui.css',
      'swagger-ui.css%00',
      '__proto__',
      'constructor',
      'x'.repeat(200),
    ];
    for (const name of names) {
      expectRejection(await api.call('GET', `/docs/${name}`, { key: undefined }), 'not_found');
    }
    const nested = await api.call('GET', '/docs/swagger-ui/package.json', { key: undefined });
    expectRejection(nested, 'not_found');
  });

  it('takes GET and HEAD alone', async () => {
    const path = assetPaths()[0] ?? '';
    expectRejection(await api.call('POST', path, { key: undefined }), 'method_not_allowed');
    const head = await api.call('HEAD', path, { key: undefined });
    expect(head).toMatchObject({ status: 200, text: '' });
  });
});

/** The other origins that a style sheet loads, or that the script which starts the page names. */
function otherOrigins(path: string, text: string): string[] {
  if (path.endsWith('.css')) {
    const named = [...text.matchAll(/url\(\s*["']?([^"')]{0,40})|@import\s+(\S+)/g)];
    return named.map(([, url, imported]) => url ?? imported ?? '').filter((url) => !url.startsWith('data:'));
  }
  return path.includes('start') ? [...text.matchAll(/\b(?:https?:)?\/\/\S+/g)].map(String) : [];
}
