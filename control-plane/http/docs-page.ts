import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * The description as a page for people: Swagger UI out of its npm package, all of it from our own origin. An
 * asset's name carries a hash of its content, so that browsers may keep it for ever.
 */
export interface DocsPage {
  html: string;
  /** By the last part of their path; nothing else is served, whatever a path says. */
  assets: ReadonlyMap<string, DocsAsset>;
}

export interface DocsAsset {
  mediaType: string;
  content: Buffer;
}

/** Nothing is loaded, run, framed or sent elsewhere. Swagger UI's icons stand in its style sheet as data. */
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

/** Reads 2 MB of files: once, when the page is first asked for. */
export function readDocsPage(): DocsPage {
  const assets = new Map<string, DocsAsset>();
  const add = (name: string, mediaType: string, content: Buffer): string => {
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
    const hashed = name.replace(/\.(\w+)$/, `-${hash}.$1`);
    assets.set(hashed, { mediaType, content });
    return `/docs/${hashed}`;
  };
  const html = htmlOf({
    icon: add('icon.png', 'image/png', packaged('favicon-32x32.png')),
    style: add('swagger-ui.css', 'text/css; charset=utf-8', packaged('swagger-ui.css')),
    program: add('swagger-ui.js', SCRIPT, packaged('swagger-ui-bundle.js')),
    start: add('start.js', SCRIPT, Buffer.from(START)),
  });
  return { html, assets };
}

const SCRIPT = 'text/javascript; charset=utf-8';

/** Without `validatorUrl: null` it would send the description to a validator on the net. */
const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#description',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

function packaged(name: string): Buffer {
  const require = createRequire(import.meta.url);
  return readFileSync(join(dirname(require.resolve('swagger-ui-dist/package.json')), name));
}

function htmlOf({ icon, style, program, start }: Record<'icon' | 'style' | 'program' | 'start', string>) {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Metergate API</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${style}">
<noscript>This page needs JavaScript; <a href="/openapi.json">the description itself</a> does not.</noscript>
<div id="description"></div>
<script src="${program}" defer></script>
<script src="${start}" defer></script>
</html>
`;
}
