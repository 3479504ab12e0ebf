import { expect, test } from 'vitest';
import type { CachedCustomer } from '../cache/cached-customer.ts';
import { changedFeatures, feedState } from './feed-state.ts';
import { createWatchedCustomers } from './watched-customers.ts';

const NOW = { nowMs: 0, isComplete: true };

function customerOf(features: number): CachedCustomer {
  const held = new Map(Array.from({ length: features }, (_, at) => [`f${at}`, {}]));
  const view = { features: held, withheld: new Map() };
  return { customerId: 'cus_1', environment: 'ws:live', viewAt: () => view } as unknown as CachedCustomer;
}

// Red when it is read again in each turn, for as long as a feed names the customer.
test('a customer with too many features is left to the server, read again only after a change', () => {
  const caches = { features: { find: () => undefined }, counters: {} } as unknown as Parameters<
    typeof feedState
  >[0]; // nothing is found in them
  const customer = customerOf(201);
  const state = feedState(caches, customer, NOW);
  expect(state).toMatchObject({ status: 'too_large', features: [] });
  if (!state) return;
  const watched = createWatchedCustomers();
  const named = watched.watch('ws:live', 'acme');
  watched.learn(named, state);
  expect(String(named.whole())).toContain(
    '{"customerId":"cus_1","asked":"acme","status":"too_large","features":[]}',
  );
  expect(changedFeatures(caches, state, { customer, nowMs: 0 })).toEqual([]);
  // Another read of it, after a change.
  expect(changedFeatures(caches, state, { customer: customerOf(201), nowMs: 0 })).toBeUndefined();
});
