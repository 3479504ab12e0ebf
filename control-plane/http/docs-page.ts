import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DOCS_START, DOCS_STYLE } from './docs-assets.ts';
import { createHashedAssets, type HashedAssets, SCRIPT, STYLE } from './hashed-assets.ts';

/**
 * The description as a page for people: Swagger UI from its npm package, and a form for the API key, all
 * from our own origin.
 */
export interface DocsPage {
  html: string;
  assets: HashedAssets;
}

/** Nothing is loaded from, run from, framed by or sent to another site. Swagger UI's icons are data URLs. */
export const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Reads 2 MB of files: once, when the page is first requested. */
export function readDocsPage(): DocsPage {
  const assets = createHashedAssets('/docs');
  const { add } = assets;
  const html = htmlOf({
    icon: add('icon.png', 'image/png', packaged('favicon-32x32.png')),
    base: add('swagger-ui.css', STYLE, packaged('swagger-ui.css')),
    style: add('page.css', STYLE, DOCS_STYLE),
    program: add('swagger-ui.js', SCRIPT, packaged('swagger-ui-bundle.js')),
    start: add('start.js', SCRIPT, DOCS_START),
  });
  return { html, assets };
}

function packaged(name: string): Buffer {
  const require = createRequire(import.meta.url);
  return readFileSync(join(dirname(require.resolve('swagger-ui-dist/package.json')), name));
}

type Asset = 'icon' | 'base' | 'style' | 'program' | 'start';

function htmlOf({ icon, base, style, program, start }: Record<Asset, string>) {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Metergate API</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${base}">
<link rel="stylesheet" href="${style}">
<form id="key-form">
<label for="key">API key</label>
<input id="key" type="password" autocomplete="off" spellcheck="false">
<button type="submit">Use key</button>
<button type="button" id="forget" hidden>Forget key</button>
<p id="key-state" role="status"></p>
</form>
<noscript>This page needs JavaScript; <a href="/openapi.json">the description itself</a> does not.</noscript>
<div id="description"></div>
<script src="${program}" defer></script>
<script src="${start}" defer></script>
</html>
`;
}
