import { expect, it } from 'vitest';
import { ROUTES } from '../../schemas/routes.ts';
import { type Objects, REFERENCES, tenantRequests } from './tenant-requests.ts';

/** Red, in a second, for a field or parameter ending in Id or Key that tenant-requests.ts does not know. */
it('every operation that needs a key can be requested for a tenant', () => {
  const objects = Object.fromEntries(REFERENCES.map((name) => [name, 'an-id'])) as Objects;
  const requested = new Set(tenantRequests(objects).map(({ operationId }) => operationId));
  const needed = Object.entries(ROUTES).filter(([, { access }]) => access !== 'public');
  expect([...requested].sort()).toEqual(needed.map(([operationId]) => operationId).sort());
});
