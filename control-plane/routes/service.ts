import type { Registry } from 'prom-client';
import type { OperatorAccess, OperatorCaller } from '../../infra/platform/operator-access.ts';
import { shareOutcome } from '../../infra/platform/shared-outcome.ts';
import { Rejected } from '../../schemas/failures.ts';
import type { PublicOperationId } from '../../schemas/routes.ts';
import { createConsolePages } from '../console/console-pages.ts';
import type { ShownReadiness } from '../health/shown-readiness.ts';
import { DOCS_POLICY, type DocsPage, readDocsPage } from '../http/docs-page.ts';
import { openApi } from '../openapi/openapi.ts';

/** A page without a key. */
export interface PublicPage {
  /** 200 by default. */
  status?: number;
  mediaType: string;
  /** With an ETag the page is not sent again to a client that has it. */
  headers?: Record<string, string>;
  body: string | Buffer;
  /** The same body, compressed. */
  encoded?: { br: Buffer; gzip: Buffer };
}

/** `params` are those of the path, unchecked. */
export type PublicPages = Record<
  PublicOperationId,
  (params: Record<string, string>, caller: OperatorCaller) => PublicPage | Promise<PublicPage>
>;

export interface ServiceDeps {
  readiness: ShownReadiness;
  metrics: Registry;
  access: OperatorAccess;
}

export function createServicePages({ readiness, metrics, access }: ServiceDeps): PublicPages {
  const description = JSON.stringify(openApi());
  const metricsText = shareOutcome(() => metrics.metrics());
  let docs: DocsPage | undefined;
  const docsPage = () => {
    docs ??= readDocsPage();
    return docs;
  };
  const consolePages = createConsolePages();

  return {
    'service.health': () => json(200, JSON.stringify({ status: 'alive' })),
    'service.readiness': async (_, caller) => {
      const shown = await readiness(caller);
      return json(shown.status === 'ready' ? 200 : 503, JSON.stringify(shown));
    },
    'service.metrics': async (_, caller) => {
      const rejection = access.rejectionOf(caller);
      if (rejection) throw new Rejected(rejection.code, rejection.message);
      return { mediaType: metrics.contentType, body: await metricsText() };
    },
    'service.openapi': () => json(200, description),
    'service.docs': () => ({
      mediaType: 'text/html; charset=utf-8',
      headers: { 'Content-Security-Policy': DOCS_POLICY, 'Cache-Control': 'no-cache', ...GUARDED },
      body: docsPage().html,
    }),
    'service.docsAsset': ({ asset = '' }) => docsAsset(docsPage(), asset),
    'service.console': () => consolePages.page(),
    'service.consoleAsset': ({ asset = '' }) => consolePages.asset(asset),
  };
}

const GUARDED = { 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' };
/** A year: changed content gets another name. */
const FOREVER = 'public, max-age=31536000, immutable';

function docsAsset({ assets }: DocsPage, name: string): PublicPage {
  const found = assets.get(name);
  if (!found) throw new Rejected('not_found', 'This file does not exist. See /docs.');
  const { mediaType, content } = found;
  return { mediaType, headers: { 'Cache-Control': FOREVER, ...GUARDED }, body: content };
}

function json(status: number, body: string): PublicPage {
  return { status, mediaType: 'application/json', body };
}
