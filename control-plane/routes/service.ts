import type { Registry } from 'prom-client';
import type { OperatorAccess } from '../../infra/platform/operator-access.ts';
import { shareOutcome } from '../../infra/platform/shared-outcome.ts';
import { Rejected } from '../../schemas/failures.ts';
import { createConsolePages } from '../console/console-pages.ts';
import type { ShownReadiness } from '../health/shown-readiness.ts';
import { DOCS_POLICY, type DocsPage, readDocsPage } from '../http/docs-page.ts';
import { GUARDED, HTML } from '../http/hashed-assets.ts';
import type { PublicPage, PublicPages } from '../http/public-page.ts';

type ServicePage = Extract<keyof PublicPages, `service.${string}`>;

export interface ServiceDeps {
  readiness: ShownReadiness;
  metrics: Registry;
  access: OperatorAccess;
}

export function createServicePages({
  readiness,
  metrics,
  access,
}: ServiceDeps): Pick<PublicPages, ServicePage> {
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
    'service.openapi': async () => json(200, await readDescription()),
    'service.docs': () => ({
      mediaType: HTML,
      headers: { 'Content-Security-Policy': DOCS_POLICY, 'Cache-Control': 'no-cache', ...GUARDED },
      body: docsPage().html,
    }),
    'service.docsAsset': ({ asset = '' }) => docsPage().assets.page(asset),
    'service.console': () => consolePages.page(),
    'service.consoleAsset': ({ asset = '' }) => consolePages.asset(asset),
  };
}

let description: Promise<string> | undefined;

/**
 * Made when it is first requested: at each start it would take 0.15 s of CPU. After a failure the next
 * request tries again.
 */
function readDescription(): Promise<string> {
  description ??= makeDescription().catch((error: unknown) => {
    description = undefined;
    throw error;
  });
  return description;
}

async function makeDescription(): Promise<string> {
  const { openApi } = await import('../openapi/openapi.ts');
  return JSON.stringify(openApi());
}

function json(status: number, body: string): PublicPage {
  return { status, mediaType: 'application/json', body };
}
