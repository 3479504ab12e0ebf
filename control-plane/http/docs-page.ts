import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DOCS_START, DOCS_STYLE } from './docs-assets.ts';
import { createHashedAssets, type HashedAssets, SCRIPT, STYLE } from './hashed-assets.ts';
import { addPageStyle, keyPageHtml, keyPagePolicy } from './key-page.ts';

/**
 * The description as a page for people: Swagger UI from its npm package, and a form for the API key, all
 * from our own origin.
 */
export interface DocsPage {
  html: string;
  assets: HashedAssets;
}

export const DOCS_POLICY = keyPagePolicy();

/** Reads 2 MB of files: once, when the page is first requested. */
export function readDocsPage(): DocsPage {
  const assets = createHashedAssets('/docs');
  const { add } = assets;
  const html = keyPageHtml({
    title: 'Metergate API',
    icon: add('icon.png', 'image/png', packaged('favicon-32x32.png')),
    styles: [add('swagger-ui.css', STYLE, packaged('swagger-ui.css')), addPageStyle(assets, DOCS_STYLE)],
    scripts: [
      add('swagger-ui.js', SCRIPT, packaged('swagger-ui-bundle.js')),
      add('start.js', SCRIPT, DOCS_START),
    ],
    main: '<div id="description"></div>',
    noscript: '<a href="/openapi.json">the description itself</a> does not.',
  });
  return { html, assets };
}

function packaged(name: string): Buffer {
  const require = createRequire(import.meta.url);
  return readFileSync(join(dirname(require.resolve('swagger-ui-dist/package.json')), name));
}
