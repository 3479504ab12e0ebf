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

/** Booleans that each of a hundred add-ons gives: 7 KB of each in its decision. */
function customerWithAddOns(features: number): CachedCustomer {
  const sources = Array.from({ length: 100 }, (_, at) => `addon:extra_region_${at}`);
  const contributions = sources.map((source) => ({ source, value: true }));
  const one = { type: 'boolean', meterKey: null, value: true, soft: false, sources, contributions };
  const held = new Map(Array.from({ length: features }, (_, at) => [`f${at}`, one]));
  const view = { features: held, withheld: new Map(), standing: 'counts' };
  const named = { customerId: 'cus_1', environment: 'ws:live', prepared: new Map(), terms: new Map() };
  const credits = { balance: '0', unpaid: '0' };
  return { ...named, credits, viewAt: () => view } as unknown as CachedCustomer;
}

// Red when the bytes are not counted: a client, or the stream of many customers, is cut off by one of them.
test('a customer whose decisions have more than a MiB is left to the server', () => {
  const find = (_: string, key: string) => ({
    id: key,
    key,
    type: 'boolean',
    meterKey: null,
    aggregation: null,
  });
  const caches = { features: { find }, counters: {} } as unknown as Parameters<typeof feedState>[0];
  const state = feedState(caches, customerWithAddOns(140), NOW);
  expect(state).toMatchObject({ status: 'active' });
  const decisions = state?.features.map(({ decision }) => decision).join('') ?? '';
  expect(decisions.length).toBeGreaterThan(900_000);
  const large = customerWithAddOns(160);
  const tooLarge = feedState(caches, large, NOW);
  expect(tooLarge).toMatchObject({ status: 'too_large', head: '', features: [] });
  // It is not made again before it changes.
  expect(tooLarge && changedFeatures(caches, tooLarge, { customer: large, nowMs: 0 })).toEqual([]);
});

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
