import type { ApiUnderTest } from '../api-under-test.ts';

interface Options {
  key?: string;
  headers?: Record<string, string>;
}

type ListOptions = Options & { query?: Record<string, number> };

/** Overrides of one customer and feature, and all of a customer, through the API. */
export function overridesUnderTest(api: ApiUnderTest) {
  return {
    put: (customerId: string, featureKey: string, body: unknown, options: Options = {}) =>
      api.request('overrides.put', { params: { customerId, featureKey }, body, ...options }),
    read: (customerId: string, featureKey: string, options: Options = {}) =>
      api.request('overrides.retrieve', { params: { customerId, featureKey }, ...options }),
    remove: (customerId: string, featureKey: string, options: Options = {}) =>
      api.request('overrides.delete', { params: { customerId, featureKey }, ...options }),
    list: (customerId: string, options: ListOptions = {}) =>
      api.request('overrides.list', { params: { customerId }, ...options }),
  };
}
