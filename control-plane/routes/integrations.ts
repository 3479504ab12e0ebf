import { Rejected } from '../../schemas/failures.ts';
import { API_BASE } from '../../schemas/route.ts';
import type { Handlers } from '../request-context.ts';

const REPLACEMENT = `GET ${API_BASE}/webhooks/endpoints`;

export const integrationHandlers: Pick<Handlers, 'integrations.legacyWebhooks'> = {
  'integrations.legacyWebhooks': () => {
    throw new Rejected('endpoint_removed', `This was removed on 2026-09-30. Use ${REPLACEMENT}.`, {
      details: { replacement: REPLACEMENT },
    });
  },
};
