import {
  createHashedAssets,
  GUARDED,
  type HashedAssets,
  HTML,
  SCRIPT,
  STYLE,
} from '../http/hashed-assets.ts';
import type { PublicPages } from '../http/public-page.ts';
import { GRAPHIQL_STYLE, graphiqlStart } from './graphiql-assets.ts';

type GraphiqlPages = Pick<PublicPages, 'graphql.page' | 'graphql.asset'>;

/** GraphiQL from its npm package, and a form for the API key, all from our own origin. */
export function createGraphiqlPages(): GraphiqlPages {
  let read: Promise<Graphiql> | undefined;
  const page = () => {
    read ??= readGraphiql();
    return read;
  };
  return {
    'graphql.page': async () => ({
      mediaType: HTML,
      headers: { 'Content-Security-Policy': POLICY, 'Cache-Control': 'no-cache', ...GUARDED },
      body: (await page()).html,
    }),
    'graphql.asset': async ({ asset = '' }) => (await page()).assets.page(asset),
  };
}

/**
 * Nothing is loaded from, run from, framed by or sent to another site. The editor writes styles as it runs,
 * which is why styles, and they alone, may be inline; its fonts and icons are data URLs.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Graphiql {
  html: string;
  assets: HashedAssets;
}

/** Of 8 MB of texts: once, when the page is first requested. */
async function readGraphiql(): Promise<Graphiql> {
  const { css, js, favicon, ...workers } = await import('@graphql-yoga/render-graphiql/graphiql');
  const assets = createHashedAssets('/graphql');
  const { add } = assets;
  const icon = Buffer.from(favicon.slice(favicon.indexOf(',') + 1), 'base64');
  const workerPaths = {
    editorWorkerService: add('editor-worker.js', SCRIPT, workers.editorWorkerService),
    json: add('json-worker.js', SCRIPT, workers.jsonWorker),
    graphql: add('graphql-worker.js', SCRIPT, workers.graphqlWorker),
  };
  const html = htmlOf({
    icon: add('icon.png', 'image/png', icon),
    base: add('graphiql.css', STYLE, css),
    style: add('page.css', STYLE, GRAPHIQL_STYLE),
    program: add('graphiql.js', SCRIPT, js),
    start: add('start.js', SCRIPT, graphiqlStart(workerPaths)),
  });
  return { html, assets };
}

type Asset = 'icon' | 'base' | 'style' | 'program' | 'start';

function htmlOf({ icon, base, style, program, start }: Record<Asset, string>): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Metergate GraphQL</title>
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
<noscript>This page needs JavaScript; the types are in schemas/schema.graphql.</noscript>
<main id="editor"></main>
<script src="${program}" defer></script>
<script src="${start}" defer></script>
</html>
`;
}
