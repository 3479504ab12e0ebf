import type { Registry } from 'prom-client';
import type { Readiness } from '../../schemas/resources/service.ts';
import type { PublicOperationId } from '../../schemas/routes.ts';
import { openApi } from '../openapi.ts';

/** A page without a key. */
export interface PublicPage {
  status: number;
  mediaType: string;
  body: string;
}

export type PublicPages = Record<PublicOperationId, () => Promise<PublicPage>>;

export interface ServiceDeps {
  readiness: () => Promise<Readiness>;
  metrics: Registry;
}

export function createServicePages({ readiness, metrics }: ServiceDeps): PublicPages {
  const description = JSON.stringify(openApi());

  return {
    'service.health': async () => json(200, JSON.stringify({ status: 'alive' })),
    'service.readiness': async () => {
      const answer = await readiness();
      return json(answer.status === 'ready' ? 200 : 503, JSON.stringify(answer));
    },
    'service.metrics': async () => ({
      status: 200,
      mediaType: metrics.contentType,
      body: await metrics.metrics(),
    }),
    'service.openapi': async () => json(200, description),
  };
}

function json(status: number, body: string): PublicPage {
  return { status, mediaType: 'application/json', body };
}
