import type { ApiUnderTest, CallOptions } from '../api-under-test.ts';

/** Overrides of one customer and feature, and all of a customer, through the API. */
export function overridesUnderTest(api: ApiUnderTest) {
  return {
    put: (customerId: string, featureKey: string, body: unknown, options: CallOptions = {}) =>
      api.request('overrides.put', { params: { customerId, featureKey }, ...options, body }),
    read: (customerId: string, featureKey: string, options: CallOptions = {}) =>
      api.request('overrides.retrieve', { params: { customerId, featureKey }, ...options }),
    remove: (customerId: string, featureKey: string, options: CallOptions = {}) =>
      api.request('overrides.delete', { params: { customerId, featureKey }, ...options }),
    list: (customerId: string, options: CallOptions & { query?: Record<string, number> } = {}) =>
      api.request('overrides.list', { params: { customerId }, ...options }),
  };
}
