import {
  createHashedAssets,
  GUARDED,
  type HashedAssets,
  HTML,
  SCRIPT,
  STYLE,
} from '../http/hashed-assets.ts';
import { addPageStyle, keyPageHtml, keyPagePolicy } from '../http/key-page.ts';
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

/** The editor writes styles as it runs, which is why styles, and they alone, may be inline. */
const POLICY = keyPagePolicy({
  'worker-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  'font-src': "'self' data:",
});

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
  const html = keyPageHtml({
    title: 'Metergate GraphQL',
    icon: add('icon.png', 'image/png', icon),
    styles: [add('graphiql.css', STYLE, css), addPageStyle(assets, GRAPHIQL_STYLE)],
    scripts: [add('graphiql.js', SCRIPT, js), add('start.js', SCRIPT, graphiqlStart(workerPaths))],
    main: '<main id="editor"></main>',
    noscript: 'the types are in schemas/schema.graphql.',
  });
  return { html, assets };
}
