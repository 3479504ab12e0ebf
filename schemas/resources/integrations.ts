import { Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { Nothing } from './fields.ts';

export const integrationRoutes = {
  'integrations.legacyWebhooks': defineRoute({
    method: 'GET',
    path: `${API_BASE}/integrations/legacy-webhooks`,
    plane: 'control',
    access: 'any_key',
    summary: 'Removed on 2026-09-30: use GET /api/v1/webhooks/endpoints',
    params: Nothing,
    query: Nothing,
    status: 410,
    response: Type.Never(),
    errors: ['endpoint_removed'],
    deprecated: true,
  }),
};
