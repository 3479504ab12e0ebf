import type { ApiRequest } from '../api/send.ts';

/** How the first object of a kind is made. */
export interface FirstObject {
  operationId: string;
  /** In the API reference. */
  tag: string;
  request: ApiRequest;
}

function made(operationId: string, tag: string, body: object): FirstObject {
  return { operationId, tag, request: { method: 'POST', path: `/api/v1/${tag}`, body } };
}

export const FIRST = {
  customer: made('customers.create', 'customers', {
    name: 'Globex',
    email: 'ops@globex.example',
    externalId: 'globex',
  }),
  plan: made('createPlan', 'plans', { productId: 'platform', name: 'Pro' }),
  meter: made('meters.create', 'meters', {
    key: 'emails',
    name: 'Emails',
    aggregation: 'sum',
    unit: 'email',
  }),
  feature: made('features.create', 'features', { key: 'sso', name: 'Single sign-on', type: 'boolean' }),
} as const;
