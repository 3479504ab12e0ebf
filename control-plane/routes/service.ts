import type { Registry } from 'prom-client';
import type { OperatorAccess, OperatorCaller } from '../../infra/platform/operator-access.ts';
import { shareOutcome } from '../../infra/platform/shared-outcome.ts';
import { Rejected } from '../../schemas/failures.ts';
import type { Readiness } from '../../schemas/resources/service.ts';
import type { PublicOperationId } from '../../schemas/routes.ts';
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

type ServicePages = Pick<PublicPages, Extract<PublicOperationId, `service.${string}`>>;

export interface ServiceDeps {
  readiness: () => Promise<Readiness>;
  metrics: Registry;
  access: OperatorAccess;
}

export function createServicePages({ readiness, metrics, access }: ServiceDeps): ServicePages {
  const description = JSON.stringify(openApi());
  const metricsText = shareOutcome(() => metrics.metrics());
  let docs: DocsPage | undefined;
  const docsPage = () => {
    docs ??= readDocsPage();
    return docs;
  };

  return {
    'service.health': () => json(200, JSON.stringify({ status: 'alive' })),
    'service.readiness': async (_, caller) => {
      const response = await readiness();
      const { status } = response;
      const shown = access.rejectionOf(caller) ? { status } : response;
      return json(status === 'ready' ? 200 : 503, JSON.stringify(shown));
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
